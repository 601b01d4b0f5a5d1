// The API in words, from its own description at /openapi.json.

import { fill, h } from "./dom.js";

const root = document.getElementById("docs");
const METHODS = ["get", "put", "post", "patch", "delete"];

function typeOf(schema, document) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, document)).join(" or ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf(schema.items, document) || "anything"}`;
  return schema.type ?? "";
}

function fieldsOf(schema, document) {
  const found = schema?.$ref ? document.components.schemas[schema.$ref.split("/").at(-1)] : schema;
  if (!found?.properties) return null;
  return table(["Field", "Type", "Meaning"], Object.entries(found.properties).map(([name, one]) => [
    h("code", name), [typeOf(one, document), found.required?.includes(name) ? h("b", " needed") : ""], [inline(one.description), one.default !== undefined && one.default !== null && one.default !== "" ? h("span.quiet", ` Default ${JSON.stringify(one.default)}.`) : ""],
  ]));
}

const table = (titles, rows) => h(".scroll", { tabindex: "0", role: "region", "aria-label": titles.join(", ") }, h("table.plain", h("thead", h("tr", titles.map((title) => h("th", { scope: "col" }, title)))), h("tbody", rows.map((row) => h("tr", row.map((cell) => h("td", cell)))))));
const inline = (text = "") => text.split("`").map((part, i) => (i % 2 ? h("code", part) : part));

function operation(method, path, one, document) {
  const contents = Object.entries(one.requestBody?.content ?? {});
  const good = Object.entries(one.responses).filter(([status]) => status < 400);
  const bad = Object.entries(one.responses).filter(([status]) => status >= 400);
  return h("details.operation", { id: `${method}-${path}` },
    h("summary", h("span.method", { class: method }, method.toUpperCase()), h("code", path), h("span.quiet", one.summary)),
    h(".inside",
      one.description && h("p", inline(one.description)),
      one.parameters?.length && [h("h3", "Parameters"), table(["Name", "In", "Type", "Meaning"], one.parameters.map((p) => [h("code", p.name), [p.in, p.required ? h("b", " needed") : ""], typeOf(p.schema, document), inline(p.description)]))],
      contents.length && [h("h3", "Body"), h("p.quiet", contents.map(([type]) => type).join(", ")), fieldsOf(contents.find(([type]) => type.includes("json"))?.[1].schema, document)],
      h("h3", "Answers"),
      good.map(([status, answer]) => h("div", h("p", h("b.number", status), ` ${answer.description} `, h("span.quiet", typeOf(answer.content?.["application/json"]?.schema, document))), fieldsOf(answer.content?.["application/json"]?.schema, document))),
      bad.length && h("p.quiet.small", bad.map(([status, answer]) => h("span.refusal", h("b.number", status), " ", inline(answer.description), " ")))));
}

async function show() {
  const document_ = await (await fetch("/openapi.json")).json();
  const groups = new Map();
  for (const [path, methods] of Object.entries(document_.paths)) {
    for (const method of METHODS) {
      if (!methods[method]) continue;
      const tag = methods[method].tags?.[0] ?? "other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operation(method, path, methods[method], document_));
    }
  }
  fill(root, h("h1", "API"), h("p.lead", inline(document_.info.description.replaceAll("\n\n", " "))), h("p.quiet", `Version ${document_.info.version}. Programs read the same at `, h("a", { href: "/openapi.json" }, "/openapi.json"), "."),
    [...groups].map(([tag, operations]) => h("section", h("h2", tag), operations)));
}

show().catch(() => fill(root, h("p.note.bad", "The description of the API could not be read.")));
