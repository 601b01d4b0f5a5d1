// Bundles the page: two entries, a chunk for each view, names that change with the content.

import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { guides } from "./guides.mjs";

const [into] = process.argv.slice(2);
await rm(into, { recursive: true, force: true });
await mkdir(into, { recursive: true });

const options = {
  outdir: into,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  legalComments: "none",
  plugins: [guides],
  metafile: true,
};
const scripts = await build({ ...options, entryPoints: { main: "src/main.tsx" }, splitting: true });
const reference = await build({ ...options, entryPoints: { docs: "src/docs.tsx" } });
const styles = await build({
  entryPoints: { page: "css/page.css", docs: "css/docs.css" },
  outdir: into,
  bundle: true,
  minify: true,
  target: "es2022",
  entryNames: "[name]-[hash]",
  metafile: true,
});

const built = [scripts, reference, styles].flatMap(({ metafile }) => Object.entries(metafile.outputs));
const nameOf = (entry) =>
  built
    .find(([, output]) => output.entryPoint === entry)[0]
    .split("/")
    .at(-1);
// What the first script needs is announced in the page itself: nothing waits for another round trip.
const [, main] = built.find(([, output]) => output.entryPoint === "src/main.tsx");
const needed = main.imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => path.split("/").at(-1));
const preloads = needed.map((name) => `<link rel="modulepreload" href="{root}web/${name}">`).join("");
// What is read later is a chunk and those that it imports: all are named to the script that knows what is wanted, so
// that none waits for another.
const filesOf = (entry) => {
  const [path, { imports }] = built.find(([, output]) => output.entryPoint === entry);
  const imported = imports.filter(({ kind }) => kind === "import-statement").map((file) => file.path.split("/").at(-1));
  return [path.split("/").at(-1), ...imported].filter((name) => !needed.includes(name)).join(" ");
};

for (const page of ["index.html", "docs.html"]) {
  const text = (await readFile(`static/${page}`, "utf8"))
    .replace("{preloads}", preloads)
    .replace("{study}", filesOf("src/views/study/study.tsx"))
    .replace("{parts}", filesOf("src/views/study/parts.ts"))
    .replace("{charts}", filesOf("src/charts/echarts.ts"));
  const named = text.replace(/\{(src|css)\/([^}]+)\}/g, (_, folder, file) => nameOf(`${folder}/${file}`));
  await writeFile(`${into}/${page}`, named);
}
for (const file of ["icon.svg", "early.js"]) await cp(`static/${file}`, `${into}/${file}`);
