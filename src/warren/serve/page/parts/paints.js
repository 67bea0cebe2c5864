// How the cells of the heat map are painted: by lag, or by status.

import { h } from "../lib/dom.js";
import { brief, briefly } from "../lib/format.js";
import { colour } from "../lib/theme.js";
import { RANK } from "./status.js";

const STEPS = ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4", "heat-5"];
const SHADES = 10; // between two steps
const ROOM = 6; // around a word

// Both give { paint(row, column), legend }; colours are looked up once for all cells.
export function byLag(rows) {
  const greatest = ({ lags }) => lags.reduce((max, lag) => Math.max(max, lag ?? 0), 0);
  const most = Math.round(rows.map(greatest).reduce((max, lag) => Math.max(max, lag), 1));
  const shades = shadesOf(STEPS.slice(1).map(colour));
  const [good, none] = [colour(STEPS[0]), colour("raised")];
  const shade = (lag) =>
    lag < 0.5
      ? good
      : shades[Math.round(Math.sqrt(Math.min(lag / most, 1)) * (shades.length - 1))];
  return {
    paint: (row, at) => (row.lags[at] === null ? none : shade(row.lags[at])),
    legend: marks(most).map((lag) => tick(lag, shade(lag), lag === most)),
  };
}

// Lags whose colours are evenly apart, each once: the colours follow the square root of the lag, so
// that small lags are told apart.
function marks(most) {
  const apart = STEPS.length - 2;
  const even = Array.from({ length: apart }, (_, at) => Math.round(most * ((at + 1) / apart) ** 2));
  return [...new Set([0, 1, ...even])].sort((a, b) => a - b).filter((lag) => lag <= most);
}

function tick(lag, paint, isLast) {
  const swatch = h("span", { class: "swatch" });
  swatch.style.background = paint;
  return h("span", { class: "tick" }, swatch, isLast ? briefly(lag, "message") : brief(lag));
}

export function byStatus() {
  const cell = (status) => `cell-${status.toLowerCase()}`;
  const colours = new Map(RANK.map((status) => [status, colour(cell(status))]));
  const none = colour("raised");
  const key = (name, text) =>
    h("span", { class: "key" }, h("span", { class: `swatch ${name}` }), text);
  return {
    paint: (row, at) => colours.get(row.statuses[at]) ?? none,
    legend: [...RANK.map((status) => key(cell(status), status)), key("unknown", "not told")],
  };
}

// Writes the status, or its first letter, on each run of equal cells: nobody has to tell colours
// apart.
export function writeStatuses(pen, statuses, { left, cell, middle }) {
  let from = 0;
  for (let at = 1; at <= statuses.length; at += 1) {
    if (statuses[at] === statuses[from]) continue;
    const status = statuses[from];
    const room = (at - from) * cell;
    const text = [status, status?.[0]].find(
      (word) => word && pen.measureText(word).width + ROOM <= room,
    );
    if (text) {
      pen.fillStyle = colour(`ink-${status.toLowerCase()}`);
      pen.fillText(text, left + from * cell + ROOM / 2, middle);
    }
    from = at;
  }
}

// Colours between colours, so that small differences show.
function shadesOf(colours) {
  const parts = colours.map((each) =>
    each
      .match(/[\d.]+/g)
      .slice(0, 3)
      .map(Number),
  );
  const between = (one, other, part) =>
    `rgb(${one.map((value, at) => Math.round(value + (other[at] - value) * part)).join(" ")})`;
  const shades = parts
    .slice(1)
    .flatMap((other, at) =>
      Array.from({ length: SHADES }, (_, number) => between(parts[at], other, number / SHADES)),
    );
  return [...shades, colours.at(-1)];
}
