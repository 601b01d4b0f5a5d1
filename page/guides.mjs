// The guides of the project as HTML, rendered when the page is built: they are read inside the page, without the internet.

import { readFile } from "node:fs/promises";
import { Marked } from "marked";

export const GUIDES = [
  "scientist",
  "technician",
  "objectives",
  "dashboard",
  "client",
  "admin",
  "settings",
  "auto",
  "problems",
];

const slug = (text) =>
  text
    .toLowerCase()
    .replace(/<[^>]*>|&[a-z]+;/g, "")
    .replace(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

const attribute = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

// A link to another guide stays inside the page, one to the web opens beside it; other documents are not here.
function linkTo(href, text) {
  if (href.startsWith("#")) return `<a href="${attribute(href)}">${text}</a>`;
  const [, name, anchor = ""] = /^([a-z]+)\.md(#.*)?$/.exec(href) ?? [];
  if (GUIDES.includes(name)) return `<a href="${attribute(name + anchor)}">${text}</a>`;
  if (/^https?:/.test(href)) return `<a href="${attribute(href)}" target="_blank" rel="noreferrer">${text}</a>`;
  return text;
}

const renderer = {
  heading({ tokens, depth }) {
    const text = this.parser.parseInline(tokens);
    return `<h${depth} id="${slug(text)}">${text}</h${depth}>\n`;
  },
  link({ href, tokens }) {
    return linkTo(href, this.parser.parseInline(tokens));
  },
  image: ({ text }) => attribute(text),
  code: ({ text, escaped }) =>
    `<pre tabindex="0"><code>${escaped ? text : text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</code></pre>\n`,
  table(token) {
    const cells = (row, tag) => row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
    const body = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
    const head = `<thead><tr>${cells(token.header, "th")}</tr></thead>`;
    return `<div class="scroll" tabindex="0"><table class="plain">${head}<tbody>${body}</tbody></table></div>\n`;
  },
};

async function guide(id) {
  const text = await readFile(`../docs/${id}.md`, "utf8");
  const [, title = id] = /^# (.+)$/m.exec(text) ?? [];
  return { id, title, html: new Marked({ renderer }).parse(text) };
}

// `import { GUIDES } from "guides"`
export const guides = {
  name: "guides",
  setup(build) {
    build.onResolve({ filter: /^guides$/ }, () => ({ path: "guides", namespace: "guides" }));
    build.onLoad({ filter: /.*/, namespace: "guides" }, async () => ({
      contents: `export const GUIDES = ${JSON.stringify(await Promise.all(GUIDES.map(guide)))};`,
      loader: "js",
    }));
  },
};
