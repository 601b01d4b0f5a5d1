// The API in words, from its own description at /openapi.json.

import { type ComponentChildren, render } from "preact";
import { at } from "./core/address.ts";
import { Headings } from "./parts/table.tsx";

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  type?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  default?: unknown;
}
interface Content {
  schema?: Schema;
}
interface Operation {
  summary: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema; description?: string }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
}
interface Api {
  info: { description: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const METHODS = ["get", "put", "post", "patch", "delete"];
const nameOf = (reference: string) => reference.split("/").at(-1) ?? "";

function typeOf(schema?: Schema): string {
  if (!schema) return "";
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map((option) => JSON.stringify(option)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf(schema.items) || "anything"}`;
  return schema.type ?? "";
}

// `code` between backticks.
function Inline({ text = "" }: { text?: string }) {
  // Parts of a fixed text.
  return <>{text.split("`").map((part, position) => (position % 2 ? <code key={position}>{part}</code> : part))}</>;
}

function Table({ titles, rows }: { titles: string[]; rows: { id: string; cells: ComponentChildren[] }[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={titles.join(", ")}>
      <table class="plain">
        <Headings titles={titles} />
        <tbody>
          {rows.map(({ id, cells }) => (
            <tr key={id}>
              {cells.map((cell, position) => (
                <td key={titles[position]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Fields({ schema, api }: { schema?: Schema; api: Api }) {
  const resolved = schema?.$ref ? api.components.schemas[nameOf(schema.$ref)] : schema;
  if (!resolved?.properties) return null;
  const rows = Object.entries(resolved.properties).map(([name, property]) => ({
    id: name,
    cells: [
      <code key={name}>{name}</code>,
      <>
        {typeOf(property)}
        {resolved.required?.includes(name) && <b> required</b>}
      </>,
      <>
        <Inline text={property.description} />
        <Default value={property.default} />
      </>,
    ],
  }));
  return <Table titles={["Field", "Type", "Meaning"]} rows={rows} />;
}

function Default({ value }: { value: unknown }) {
  if (value === undefined || value === null || value === "") return null;
  return <span class="quiet">{` Default ${JSON.stringify(value)}.`}</span>;
}

interface EntryProps {
  method: string;
  path: string;
  operation: Operation;
  api: Api;
}

function Entry({ method, path, operation, api }: EntryProps) {
  const contents = Object.entries(operation.requestBody?.content ?? {});
  const answers = Object.entries(operation.responses);
  const good = answers.filter(([status]) => Number(status) < 400);
  const bad = answers.filter(([status]) => Number(status) >= 400);
  return (
    <details class="operation" id={`${method}-${path}`}>
      <summary>
        <span class={`method ${method}`}>{method.toUpperCase()}</span>
        <code>{path}</code>
        <span class="quiet">{operation.summary}</span>
      </summary>
      <div class="inside">
        {operation.description && (
          <p>
            <Inline text={operation.description} />
          </p>
        )}
        {operation.parameters && operation.parameters.length > 0 && <Parameters list={operation.parameters} />}
        {contents.length > 0 && (
          <>
            <h3>Body</h3>
            <p class="quiet">{contents.map(([type]) => type).join(", ")}</p>
            <Fields schema={contents.find(([type]) => type.includes("json"))?.[1].schema} api={api} />
          </>
        )}
        <h3>Answers</h3>
        {good.map(([status, answer]) => (
          <div key={status}>
            <p>
              <b class="number">{status}</b>
              {` ${answer.description} `}
              <span class="quiet">{typeOf(answer.content?.["application/json"]?.schema)}</span>
            </p>
            <Fields schema={answer.content?.["application/json"]?.schema} api={api} />
          </div>
        ))}
        {bad.length > 0 && (
          <p class="quiet small">
            {bad.map(([status, answer]) => (
              <span class="refusal" key={status}>
                <b class="number">{status}</b> <Inline text={answer.description} />{" "}
              </span>
            ))}
          </p>
        )}
      </div>
    </details>
  );
}

function Parameters({ list }: { list: NonNullable<Operation["parameters"]> }) {
  const rows = list.map((parameter) => ({
    id: `${parameter.in} ${parameter.name}`,
    cells: [
      <code key={parameter.name}>{parameter.name}</code>,
      <>
        {parameter.in}
        {parameter.required && <b> required</b>}
      </>,
      typeOf(parameter.schema),
      <Inline text={parameter.description} key="meaning" />,
    ],
  }));
  return (
    <>
      <h3>Parameters</h3>
      <Table titles={["Name", "In", "Type", "Meaning"]} rows={rows} />
    </>
  );
}

function Docs({ api }: { api: Api }) {
  const groups = new Map<string, EntryProps[]>();
  for (const [path, methods] of Object.entries(api.paths))
    for (const method of METHODS) {
      const operation = methods[method];
      if (!operation) continue;
      const tag = operation.tags?.[0] ?? "other";
      groups.set(tag, [...(groups.get(tag) ?? []), { method, path, operation, api }]);
    }
  return (
    <>
      <h1>API</h1>
      <p class="lead">
        <Inline text={api.info.description.replaceAll("\n\n", " ")} />
      </p>
      <p class="quiet">
        {`Version ${api.info.version}. Programs read the same at `}
        <a href={at("openapi.json")}>/openapi.json</a>.
      </p>
      {[...groups].map(([tag, operations]) => (
        <section key={tag}>
          <h2>{tag}</h2>
          {operations.map((entry) => (
            <Entry {...entry} key={`${entry.method} ${entry.path}`} />
          ))}
        </section>
      ))}
    </>
  );
}

const root = document.getElementById("docs") as HTMLElement;
const show = (content: ComponentChildren) => {
  root.replaceChildren();
  render(content, root);
};
fetch(at("openapi.json"))
  .then((answer) => answer.json())
  .then(
    (api: Api) => show(<Docs api={api} />),
    () => show(<p class="note bad">The description of the API could not be loaded.</p>),
  );
