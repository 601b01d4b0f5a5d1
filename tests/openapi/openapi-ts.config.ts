// How the public generator makes a client that Node runs as it is.
export default {
  input: "./openapi.json",
  output: { path: "./generated", module: { extension: ".ts" } },
  plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/typescript"],
};
