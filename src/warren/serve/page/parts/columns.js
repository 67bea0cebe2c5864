// The columns of the overview: all there are, the usual ones for a width, those that are chosen.

import { h } from "../lib/dom.js";
import { menu } from "../lib/menu.js";

const GAP = 14; // between two columns, and at both ends of a row

// `order` is what a click on the head asks for; `least` is the width in pixels that it needs, `part`
// its part of what is left; `from`: the width of the list from which it is usual.
const COLUMNS = [
  { name: "status", label: "Status", order: "trouble", least: 96, part: 0, from: 0 },
  { name: "group", label: "Group", order: "name", least: 150, part: 2.4, from: 0 },
  { name: "behind", label: "Behind by", order: "behind", least: 84, part: 0, from: 0, number: true },
  { name: "lag", label: "Lag", order: "lag", least: 84, part: 0, from: 0, number: true },
  { name: "drain", label: "Catches up in", least: 122, part: 0, from: 880, number: true },
  { name: "produced", label: "Produced", least: 92, part: 0, from: 1100, number: true },
  { name: "consumed", label: "Consumed", least: 92, part: 0, from: 1100, number: true },
  { name: "trend", label: "Trend", least: 140, part: 0.6, from: 0 },
  { name: "worst", label: "Worst partition", least: 140, part: 1.6, from: 1360 },
  { name: "age", label: "Last commit", order: "age", least: 92, part: 0, from: 0, number: true },
  { name: "owner", label: "Owner", least: 100, part: 1, from: 1500 },
];
const ALWAYS = ["status", "group"];

export const everyColumn = COLUMNS;
const named = (names) => COLUMNS.filter(({ name }) => names.includes(name) || ALWAYS.includes(name));

// Those that an address names, in our order; without any, the usual ones.
export function columnsFor(names, width) {
  const known = names.filter((name) => COLUMNS.some((column) => column.name === name));
  return known.length ? named(known) : COLUMNS.filter(({ from }) => width >= from);
}

// For the style sheet: the widths, and how narrow the rows may become before the list scrolls.
export function layOut(element, columns) {
  const width = ({ least, part }) => (part ? `minmax(${least}px, ${part}fr)` : `${least}px`);
  const sum = columns.reduce((total, { least }) => total + least + GAP, GAP);
  element.style.setProperty("--columns", columns.map(width).join(" "));
  element.style.setProperty("--least", `${sum}px`);
  element.dataset.columns = columns.map(({ name }) => name).join(" ");
}

// `choose(names)` takes other columns; none are the usual ones. `mark` is told which are shown.
export function columnMenu(choose) {
  const boxes = COLUMNS.filter(({ name }) => !ALWAYS.includes(name)).map(({ name, label }) => {
    const box = h("input", { type: "checkbox", value: name, onchange: () => choose(chosen()) });
    return { box, line: h("label", null, box, label) };
  });
  const chosen = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
  const usual = h("button", { type: "button", onclick: () => choose([]) }, "The usual ones");
  const element = menu("Columns", ...boxes.map(({ line }) => line), usual);
  element.classList.add("columns");
  return {
    element,
    mark(shown) {
      for (const { box } of boxes) box.checked = shown.some(({ name }) => name === box.value);
    },
  };
}
