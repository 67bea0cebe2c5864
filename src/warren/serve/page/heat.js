// Partition × time on a canvas: how much lag, or which status, where and when.

import { h } from "./dom.js";
import { brief, exactly, timeWithin } from "./format.js";
import { colour } from "./themes.js";

const MOST_ROWS = 240;
const TALLEST = 480;
const GAP = 7; // between a name and its cells
const WIDEST = 0.4; // part of the width that names may take
const STEPS = ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4", "heat-5"];
const SHADES = 10; // between two steps

export class Heat {
  constructor(label) {
    this.by = "lag";
    this.canvas = h("canvas", { class: "heat", role: "img", "aria-label": label });
    this.readout = h("p", { class: "readout" }, "");
    this.span = h("p", { class: "span" });
    this.legend = h("p", { class: "legend" });
    const choice = (by, text) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(by === this.by),
          onclick: (event) => this.#choose(by, event.target),
        },
        text,
      );
    this.choices = h(
      "div",
      { class: "segmented", role: "group", "aria-label": "Colour by" },
      choice("lag", "Lag"),
      choice("status", "Status"),
    );
    this.element = h(
      "div",
      { class: "heats" },
      h("div", { class: "tools" }, this.choices, this.legend),
      this.canvas,
      this.span,
      this.readout,
    );
    this.canvas.addEventListener("pointermove", (event) => this.#read((this.pointed = event)));
    this.canvas.addEventListener("pointerleave", () => this.#read((this.pointed = null)));
    this.sizes = new ResizeObserver(() => this.grid && this.redraw());
    this.sizes.observe(this.canvas);
  }

  #choose(by, button) {
    this.by = by;
    for (const each of this.choices.children)
      each.setAttribute("aria-pressed", String(each === button));
    this.redraw();
  }

  show(grid) {
    this.grid = grid;
    this.rows = grid.rows;
    this.note = "Point at a cell to read it.";
    if (this.rows.length > MOST_ROWS) {
      const latest = (row) => row.lags.at(-1) ?? -1;
      this.rows = [...this.rows].sort((a, b) => latest(b) - latest(a)).slice(0, MOST_ROWS);
      this.note = `The ${MOST_ROWS} of ${grid.rows.length} partitions with the greatest lag.`;
    }
    this.redraw();
    this.#read(this.pointed);
  }

  redraw() {
    const scale = devicePixelRatio || 1;
    const rowHeight = Math.max(
      2,
      Math.min(16, Math.floor(TALLEST / Math.max(this.rows.length, 1))),
    );
    const [width, height] = [
      this.canvas.clientWidth || 600,
      rowHeight * Math.max(this.rows.length, 1),
    ];
    this.canvas.style.height = `${height}px`;
    [this.canvas.width, this.canvas.height] = [width * scale, height * scale];
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    const gap = rowHeight > 5 ? 1 : 0;
    const [paint, legend] = this.by === "lag" ? this.#byLag() : this.#byStatus();
    const columns = Math.max(this.grid.times.length, 1);
    const left = rowHeight < 11 ? 0 : this.#drawNames(pen, rowHeight, width * WIDEST);
    const cell = (width - left) / columns;
    this.rows.forEach((row, at) => {
      for (let column = 0; column < columns; column += 1) {
        pen.fillStyle = paint(row, column);
        pen.fillRect(left + column * cell, at * rowHeight, cell + 0.5, rowHeight - gap);
      }
    });
    this.size = { rowHeight, cell, left };
    this.legend.replaceChildren(...legend);
    this.span.style.paddingLeft = `${left}px`;
    this.span.replaceChildren(
      ...this.#ends().map((ms) => h("span", { title: exactly(ms) }, timeWithin(ms, this.#ends()))),
    );
  }

  // The numbers of the partitions, with the topic if there are several; gives the room they take.
  #drawNames(pen, rowHeight, most) {
    const isOfOne = new Set(this.rows.map((row) => row.topic)).size === 1;
    const short = (row) => String(row.partition ?? "");
    pen.font = "11px system-ui, sans-serif";
    const names = this.rows.map((row) => cut(pen, isOfOne ? short(row) : nameOf(row), most));
    const left = Math.max(0, ...names.map((name) => pen.measureText(name).width)) + 2 * GAP;
    pen.fillStyle = colour("muted");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    names.forEach((name, at) => pen.fillText(name, left - GAP, (at + 0.5) * rowHeight));
    return left;
  }

  #byLag() {
    const most = Math.max(
      1,
      ...this.rows.map((row) => row.lags.reduce((max, lag) => Math.max(max, lag ?? 0), 0)),
    );
    const shades = shadesOf(STEPS.slice(1).map(colour));
    const [good, none] = [colour(STEPS[0]), colour("raised")];
    const shade = (lag) =>
      lag < 0.5
        ? good
        : shades[Math.round(Math.sqrt(Math.min(lag / most, 1)) * (shades.length - 1))];
    const paint = (row, at) => (row.lags[at] === null ? none : shade(row.lags[at]));
    const keys = STEPS.map((name) => h("span", { class: `swatch ${name}` }));
    return [paint, ["0 ", ...keys, ` ${brief(Math.round(most))} messages`]];
  }

  #byStatus() {
    const names = ["OK", "WARN", "STOP", "STALL", "REWIND"];
    const colours = Object.fromEntries(
      names.map((name) => [name, colour(`cell-${name.toLowerCase()}`)]),
    );
    const none = colour("raised");
    const paint = (row, at) => colours[row.statuses[at]] ?? none;
    const keys = names.map((name) =>
      h("span", { class: "key" }, h("span", { class: `swatch cell-${name.toLowerCase()}` }), name),
    );
    return [
      paint,
      [...keys, h("span", { class: "key" }, h("span", { class: "swatch unknown" }), "not told")],
    ];
  }

  #ends() {
    const { times } = this.grid;
    return times.length ? [times[0], times.at(-1)] : [];
  }

  #read(event) {
    this.readout.textContent = (event && this.#cellAt(event)) || this.note;
  }

  #cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = this.rows[Math.floor((event.clientY - box.top) / this.size.rowHeight)];
    const at = Math.max(
      0,
      Math.min(
        this.grid.times.length - 1,
        Math.floor((event.clientX - box.left - this.size.left) / this.size.cell),
      ),
    );
    if (!row) return "";
    const lag = row.lags[at] === null ? "nothing known" : `lag ${brief(Math.round(row.lags[at]))}`;
    const parts = [
      nameOf(row),
      timeWithin(this.grid.times[at], this.#ends()),
      lag,
      row.statuses[at],
    ];
    return parts.filter(Boolean).join(" · ");
  }

  close() {
    this.sizes.disconnect();
  }
}

// A partition may be null: of what was kept by topic.
const nameOf = ({ topic, partition }) => (partition === null ? topic : `${topic}:${partition}`);

// Its end, where the partition is.
function cut(pen, name, most) {
  let text = name;
  while (text.length > 2 && pen.measureText(text).width > most) text = `…${text.slice(2)}`;
  return text;
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
