// Partition × time on a canvas: how much lag, or which status, where and when.

import { h } from "../lib/dom.js";
import { brief, counted, exactly, timeWithin } from "../lib/format.js";
import { colour } from "../lib/theme.js";
import { AXIS, MARGIN } from "./chart.js";
import { byLag, byStatus, writeStatuses } from "./paints.js";
import { rank } from "./status.js";

const MOST_ROWS = 240;
const TALLEST = 480;
const GAP = 7; // between a name and its cells
const WIDEST = 0.25; // part of the width that names may take
const READABLE = 11; // height of a row that can hold letters
const EACH = 10; // of lower rows, every tenth has its name beside it
const FONT = "system-ui, sans-serif";
const HOW = "Point at a cell, or move with the arrow keys, to read it.";

export class Heat {
  constructor(label) {
    this.by = "lag";
    this.order = "topic";
    this.at = null; // the cell that is read: { row, column }
    this.canvas = h("canvas", {
      class: "heat",
      role: "application", // arrow keys are ours
      tabindex: 0,
      "aria-label": `${label}. Arrow keys move from cell to cell.`,
      onpointermove: (event) => this.#point(event),
      onpointerdown: (event) => this.#point(event),
      onpointerleave: (event) => this.#leave(event),
      onkeydown: (event) => this.#key(event),
      onfocus: () => this.grid && this.redraw(),
      onblur: () => this.grid && this.redraw(),
    });
    this.readout = h("p", { class: "readout", "aria-live": "off" }, "");
    this.span = h("p", { class: "span" });
    this.legend = h("p", { class: "legend" });
    const colours = this.#choices("Colour by", "by", { lag: "Lag", status: "Status" });
    const orders = this.#choices("Order", "order", { topic: "By topic", worst: "Worst first" });
    this.element = h(
      "div",
      { class: "heats" },
      h("div", { class: "tools" }, colours, orders, this.legend),
      this.canvas,
      this.span,
      this.readout,
    );
    this.sizes = new ResizeObserver(() => this.grid && this.redraw());
    this.sizes.observe(this.canvas);
  }

  // Buttons of which one is pressed: the value of the property `name`.
  #choices(label, name, texts) {
    const buttons = Object.entries(texts).map(([value, text]) => {
      const choose = () => {
        this[name] = value;
        for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
        if (this.grid) this.show(this.grid, this.over);
      };
      const isChosen = String(value === this[name]);
      const button = h("button", { type: "button", "aria-pressed": isChosen, onclick: choose }, text);
      return button;
    });
    return h("div", { class: "segmented", role: "group", "aria-label": label }, ...buttons);
  }

  // `over` is the time that the chart above shows, which may reach beyond the grid's: both have their
  // moments at the same places.
  show(grid, over) {
    this.grid = grid;
    this.over = over;
    this.rows = grid.rows;
    this.note = HOW;
    const worstFirst = () => [...grid.rows].sort(byTrouble);
    if (grid.rows.length > MOST_ROWS) {
      const chosen = new Set(worstFirst().slice(0, MOST_ROWS));
      this.rows = grid.rows.filter((row) => chosen.has(row));
      this.note = `The worst ${MOST_ROWS} of ${counted(grid.rows.length, "partition")}. ${HOW}`;
    }
    if (this.order === "worst") this.rows = [...this.rows].sort(byTrouble);
    this.#keepInside();
    this.redraw();
    if (this.readout.textContent !== this.#text()) this.#read("off"); // no reason to speak
  }

  redraw() {
    const scale = devicePixelRatio || 1;
    const lines = Math.max(this.rows.length, 1);
    const rowHeight = Math.max(2, Math.min(16, Math.floor(TALLEST / lines)));
    const [width, height] = [this.canvas.clientWidth || 600, rowHeight * lines];
    this.canvas.style.height = `${height}px`;
    [this.canvas.width, this.canvas.height] = [width * scale, height * scale];
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.textBaseline = "middle";
    const { paint, legend } = this.by === "lag" ? byLag(this.rows) : byStatus();
    const left = this.#drawNames(pen, rowHeight, width * WIDEST);
    const [from, to] = this.over;
    const place = (ms) => left + ((width - MARGIN - left) * (ms - from)) / (to - from || 1);
    const [begin, end] = this.grid.ends.map(place);
    const cell = (end - begin) / Math.max(this.grid.times.length, 1);
    this.size = { rowHeight, cell, left };
    this.rows.forEach((row, at) => this.#drawRow(pen, row, at, paint));
    this.#drawCursor(pen);
    this.legend.replaceChildren(...legend);
    this.span.style.paddingLeft = `${begin}px`;
    this.span.style.paddingRight = `${width - end}px`;
    const { ends } = this.grid;
    this.span.replaceChildren(
      ...ends.map((ms) => h("span", { title: exactly(ms) }, timeWithin(ms, ends))),
    );
  }

  #drawRow(pen, row, at, paint) {
    const { rowHeight, cell, left } = this.size;
    const gap = rowHeight > 5 ? 1 : 0;
    for (let column = 0; column < this.grid.times.length; column += 1) {
      pen.fillStyle = paint(row, column);
      pen.fillRect(left + column * cell, at * rowHeight, cell + 0.5, rowHeight - gap);
    }
    if (this.by !== "status" || rowHeight < READABLE) return;
    pen.font = `600 9px ${FONT}`;
    pen.textAlign = "left";
    writeStatuses(pen, row.statuses, { left, cell, middle: (at + 0.5) * rowHeight });
  }

  // Draws the partition numbers, with the topic if there are several; returns where the cells begin.
  #drawNames(pen, rowHeight, most) {
    const isOfOne = new Set(this.rows.map((row) => row.topic)).size === 1;
    const short = (row) => String(row.partition ?? "");
    const each = rowHeight < READABLE ? EACH : 1;
    pen.font = `11px ${FONT}`;
    const names = this.rows.map((row, at) =>
      at % each ? "" : cut(pen, isOfOne ? short(row) : nameOf(row), most),
    );
    const widest = names.reduce((most, name) => Math.max(most, pen.measureText(name).width), 0);
    const left = Math.max(widest + 2 * GAP, AXIS);
    pen.fillStyle = colour("muted");
    pen.textAlign = "right";
    const middle = (at) => Math.max((at + 0.5) * rowHeight, READABLE / 2); // the first is not cut
    names.forEach((name, at) => name && pen.fillText(name, left - GAP, middle(at)));
    return left;
  }

  #drawCursor(pen) {
    if (!this.at || document.activeElement !== this.canvas) return;
    const { rowHeight, cell, left } = this.size;
    pen.lineWidth = 2;
    pen.strokeStyle = colour("text");
    pen.strokeRect(
      left + this.at.column * cell,
      this.at.row * rowHeight + 1,
      Math.max(cell, 4),
      Math.max(rowHeight - 2, 2),
    );
  }

  // Where the cells begin.
  get left() {
    return this.size.left;
  }

  // After a touch the readout stays; when the mouse leaves, it goes.
  #point(event) {
    const box = this.canvas.getBoundingClientRect();
    this.at = {
      row: Math.floor((event.clientY - box.top) / this.size.rowHeight),
      column: Math.floor((event.clientX - box.left - this.size.left) / this.size.cell),
    };
    this.#keepInside();
    this.#read("off");
  }

  #leave(event) {
    if (event.pointerType !== "mouse" || document.activeElement === this.canvas) return;
    this.at = null;
    this.#read("off");
  }

  #key(event) {
    const last = this.grid.times.length - 1;
    const { row, column } = this.at ?? { row: 0, column: last };
    const places = {
      ArrowUp: { row: row - 1, column },
      ArrowDown: { row: row + 1, column },
      ArrowLeft: { row, column: column - 1 },
      ArrowRight: { row, column: column + 1 },
      Home: { row, column: 0 },
      End: { row, column: last },
    };
    if (!(event.key in places) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.at = this.at ? places[event.key] : { row, column };
    this.#keepInside();
    this.redraw();
    this.#read("polite");
  }

  #keepInside() {
    if (!this.at) return;
    const within = (number, count) => Math.max(0, Math.min(count - 1, number));
    this.at.row = within(this.at.row, this.rows.length);
    this.at.column = within(this.at.column, this.grid.times.length);
  }

  #read(live) {
    this.readout.setAttribute("aria-live", live);
    this.readout.textContent = this.#text();
  }

  #text() {
    return (this.at && this.#inWords(this.at)) || this.note;
  }

  #inWords({ row: number, column }) {
    const row = this.rows[number];
    if (!row) return "";
    const lag = row.lags[column];
    const parts = [
      nameOf(row),
      timeWithin(this.grid.times[column], this.grid.ends),
      lag === null ? "nothing known" : `lag ${brief(Math.round(lag))}`,
      row.statuses[column],
    ];
    return parts.filter(Boolean).join(" · ");
  }

  close() {
    this.sizes.disconnect();
  }
}

// The worst status now first, then the greatest lag.
function byTrouble(a, b) {
  const [one, other] = [a, b].map(({ statuses, status }) => rank(status || statuses.at(-1) || ""));
  return other - one || (b.lags.at(-1) ?? -1) - (a.lags.at(-1) ?? -1);
}

// A partition is null if history was kept by topic.
const nameOf = ({ topic, partition }) => (partition === null ? topic : `${topic}:${partition}`);

// Shortens a name to its end, where the partition is.
function cut(pen, name, most) {
  let text = name;
  while (text.length > 2 && pen.measureText(text).width > most) text = `…${text.slice(2)}`;
  return text;
}
