// The API in words, from its own description at /openapi.json.

import { fill, h } from "./dom.js";

const root = document.getElementById("docs");
const METHODS = ["get", "put", "post", "patch", "delete"];

function typeOf(schema, api) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map((option) => typeOf(option, api)).join(" or ");
  if (schema.enum) return schema.enum.map((option) => JSON.stringify(option)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf(schema.items, api) || "anything"}`;
  return schema.type ?? "";
}

function fieldsOf(schema, api) {
  const resolved = schema?.$ref ? api.components.schemas[schema.$ref.split("/").at(-1)] : schema;
  if (!resolved?.properties) return null;
  return table(
    ["Field", "Type", "Meaning"],
    Object.entries(resolved.properties).map(([name, property]) => [
      h("code", name),
      [typeOf(property, api), resolved.required?.includes(name) ? h("b", " required") : ""],
      [inline(property.description), defaultOf(property)],
    ]),
  );
}

function defaultOf({ default: value }) {
  if (value === undefined || value === null || value === "") return null;
  return h("span.quiet", ` Default ${JSON.stringify(value)}.`);
}

const table = (titles, rows) =>
  h(
    ".scroll",
    { tabindex: "0", role: "region", "aria-label": titles.join(", ") },
    h(
      "table.plain",
      h(
        "thead",
        h(
          "tr",
          titles.map((title) => h("th", { scope: "col" }, title)),
        ),
      ),
      h(
        "tbody",
        rows.map((row) =>
          h(
            "tr",
            row.map((cell) => h("td", cell)),
          ),
        ),
      ),
    ),
  );
const inline = (text = "") => text.split("`").map((part, i) => (i % 2 ? h("code", part) : part));

function operationEntry(method, path, operation, api) {
  const contents = Object.entries(operation.requestBody?.content ?? {});
  const good = Object.entries(operation.responses).filter(([status]) => status < 400);
  const bad = Object.entries(operation.responses).filter(([status]) => status >= 400);
  return h(
    "details.operation",
    { id: `${method}-${path}` },
    h(
      "summary",
      h("span.method", { class: method }, method.toUpperCase()),
      h("code", path),
      h("span.quiet", operation.summary),
    ),
    h(
      ".inside",
      operation.description && h("p", inline(operation.description)),
      operation.parameters?.length > 0 && [
        h("h3", "Parameters"),
        table(
          ["Name", "In", "Type", "Meaning"],
          operation.parameters.map((parameter) => [
            h("code", parameter.name),
            [parameter.in, parameter.required ? h("b", " required") : ""],
            typeOf(parameter.schema, api),
            inline(parameter.description),
          ]),
        ),
      ],
      contents.length > 0 && [
        h("h3", "Body"),
        h("p.quiet", contents.map(([type]) => type).join(", ")),
        fieldsOf(contents.find(([type]) => type.includes("json"))?.[1].schema, api),
      ],
      h("h3", "Answers"),
      good.map(([status, answer]) =>
        h(
          "div",
          h(
            "p",
            h("b.number", status),
            ` ${answer.description} `,
            h("span.quiet", typeOf(answer.content?.["application/json"]?.schema, api)),
          ),
          fieldsOf(answer.content?.["application/json"]?.schema, api),
        ),
      ),
      bad.length > 0 &&
        h(
          "p.quiet.small",
          bad.map(([status, answer]) => h("span.refusal", h("b.number", status), " ", inline(answer.description), " ")),
        ),
    ),
  );
}

async function show() {
  const api = await (await fetch("/openapi.json")).json();
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const method of METHODS) {
      if (!methods[method]) continue;
      const tag = methods[method].tags?.[0] ?? "other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operationEntry(method, path, methods[method], api));
    }
  }
  fill(
    root,
    h("h1", "API"),
    h("p.lead", inline(api.info.description.replaceAll("\n\n", " "))),
    h(
      "p.quiet",
      `Version ${api.info.version}. Programs read the same at `,
      h("a", { href: "/openapi.json" }, "/openapi.json"),
      ".",
    ),
    [...groups].map(([tag, operations]) => h("section", h("h2", tag), operations)),
  );
}

show().catch(() => fill(root, h("p.note.bad", "The description of the API could not be loaded.")));
