// A table that its reader sorts by clicking on a head.

import { h, renew } from "../lib/dom.js";
import { count as whole } from "../lib/format.js";

const AT_FIRST = 200; // rows; the rest on request
const MOST_CELLS = 40_000; // of a wide table at first

// A column is { label, key?, cell(row) -> text or element, value(row) -> to sort by, number?: true,
// gives?: true }; one that gives is cut on a narrow screen, so that the others are not.
export function sortable(label, columns, sort = { column: 0, down: false }) {
  const state = { rows: [], limit: AT_FIRST, cells: MOST_CELLS, ...sort };
  const head = h("tr", null);
  const body = h("tbody", null);
  const more = h("button", {
    type: "button",
    class: "more",
    onclick: () => draw((state.limit = state.cells = Infinity)),
  });
  const table = h("table", { "aria-label": label }, h("thead", null, head), body);
  const element = h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    table,
    more,
  );

  function choose(column) {
    state.down = state.column === column ? !state.down : Boolean(columns[column].number);
    state.column = column;
    draw();
  }

  function draw() {
    renew(head, columns.map(headCell));
    const sorted = [...state.rows].sort(comparison(columns[state.column].value, state.down));
    const limit = Math.max(10, Math.min(state.limit, state.cells / columns.length));
    renew(body, sorted.slice(0, limit).map(line));
    more.hidden = sorted.length <= limit;
    more.textContent = `Show all ${whole(sorted.length)}`;
  }

  function headCell(column, at) {
    const isSorted = at === state.column;
    const order = isSorted ? (state.down ? "descending" : "ascending") : null;
    const button = h("button", { type: "button", onclick: () => choose(at) }, column.label);
    return h(
      "th",
      { scope: "col", class: kindOf(column), "aria-sort": order },
      button,
    );
  }

  function line(row) {
    return h(
      "tr",
      null,
      ...columns.map((column) =>
        h("td", { class: kindOf(column) }, column.cell(row)),
      ),
    );
  }

  // Replaces the columns; the order stays as long as its column does.
  function change(others) {
    const key = (column) => column.key ?? column.label;
    const sortedBy = key(columns[state.column]);
    const at = others.findIndex((column) => key(column) === sortedBy);
    columns = others;
    if (at < 0) Object.assign(state, sort);
    else state.column = at;
  }

  return { element, change, show: (rows) => draw((state.rows = rows)) };
}

const kindOf = ({ number, gives }) => (number ? "number" : gives ? "gives" : null);

function comparison(value, down) {
  const sign = down ? -1 : 1;
  return (a, b) => {
    const [first, second] = [value(a), value(b)];
    if (first === second) return 0;
    if (first === null || first === undefined) return 1; // what is not known comes last
    if (second === null || second === undefined) return -1;
    return first < second ? -sign : sign;
  };
}

// `giving` is the head of the column that gives, if any does.
export function plain(label, heads, rows, giving = "") {
  const kind = (at) => (heads[at] === giving ? "gives" : null);
  const line = (cells) =>
    h("tr", null, ...cells.map((cell, at) => h("td", { class: kind(at) }, cell)));
  const head = h("tr", null, ...heads.map((text, at) => h("th", { scope: "col", class: kind(at) }, text)));
  const table = h(
    "table",
    { "aria-label": label },
    h("thead", null, head),
    h("tbody", null, ...rows.map(line)),
  );
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);
}
