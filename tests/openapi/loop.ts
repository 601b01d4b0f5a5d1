// The loop of a study, with the client that a public generator made of the server's OpenAPI document.
// node loop.ts ADDRESS KEY STUDY prints what it learnt as JSON.

import { client } from "./generated/client.gen.ts";
import { askForBatch, createStudy, readSummary, reportObservations, upload } from "./generated/sdk.gen.ts";

const [address, key, study] = process.argv.slice(2);
client.setConfig({ baseUrl: address, auth: () => key, throwOnError: true });

const path = { study };
await createStudy({ path, body: { objective: "yield", direction: "maximize" }, throwOnError: true });
await upload({
  path,
  body: { candidates: [40, 60, 80].map((heat) => ({ key: `T${heat}`, heat })) },
  throwOnError: true,
});
const asked = await askForBatch({ path, body: { worker: "typescript", min_size: 2, max_size: 2 }, throwOnError: true });
if (!("suggestions" in asked.data)) throw new Error("the batch is still being computed");
for (const { suggestion, features } of asked.data.suggestions)
  await reportObservations({ path, body: { suggestion, value: Number(features.heat) / 2 }, throwOnError: true });
const summary = await readSummary({ path, throwOnError: true });
console.log(JSON.stringify({ size: asked.data.suggestions.length, summary: summary.data }));
