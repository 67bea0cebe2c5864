// What is shown, to take along: as a file, as a request, as the raw answer.

import { h } from "../lib/dom.js";
import { menu } from "../lib/menu.js";
import { get, hasToken } from "./api.js";
import { asQuery } from "./links.js";

const FREED_MS = 60_000; // after the browser has surely begun to save the file

// `source()` gives { name, path, parameters } of the answer that is shown, `table()` the heads and
// then the rows of what is shown; `whole()`, if there is more than one such answer, all that they say.
export function exportMenu(source, table, whole = null) {
  const said = h("p", { class: "of", role: "status" });
  const url = () => {
    const { path, parameters } = source();
    return location.origin + path + asQuery(parameters ?? {});
  };
  const item = (text, onclick) => h("button", { type: "button", onclick }, text);
  const say = (work) => async () => {
    try {
      said.textContent = await work();
    } catch (error) {
      said.textContent = `That failed: ${error.message}`;
    }
  };
  const raw = h("a", { target: "_blank", rel: "noopener" }, "Raw answer");
  const element = menu(
    "Export",
    item("Save as CSV", say(() => save(`${source().name}.csv`, csv(table()), "text/csv"))),
    item(
      "Save as JSON",
      say(async () => {
        const { name, path, parameters } = source();
        const answer = whole?.() ?? (await get(path, parameters));
        return save(`${name}.json`, JSON.stringify(answer, null, 2), "application/json");
      }),
    ),
    item("Copy as curl", say(() => copy(curl(url())))),
    raw,
    h("a", { href: "/v4/docs", target: "_blank", rel: "noopener" }, "API documentation"),
    said,
  );
  element.firstChild.addEventListener("click", () => {
    raw.href = url();
    said.textContent = "";
  });
  return element;
}

// A shell takes what is between single quotes as it is.
function curl(url) {
  const token = hasToken() ? ` -H "Authorization: Bearer $WARREN_TOKEN"` : "";
  return `curl -s '${url.replaceAll("'", "'\\''")}'${token}`;
}

// The rows of a table by the names of its columns.
export function asObjects([heads, ...rows]) {
  return rows.map((row) => Object.fromEntries(heads.map((head, at) => [head, row[at] ?? null])));
}

function csv(rows) {
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// A spreadsheet runs a text that begins like a formula, and clients choose the names of groups.
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(name, text, kind) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  const file = name.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 120);
  h("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), FREED_MS);
  return `Saved as ${file}`;
}

// Without TLS a browser has no clipboard for pages, but it copies what is selected.
async function copy(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return "Copied";
  }
  const field = h("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" }, text);
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (!isCopied) throw new Error("the browser does not let the page copy");
  return "Copied";
}
