// Lines over time, by uPlot, and how the first of them goes on.

import { h } from "../lib/dom.js";
import { brief, briefly, timeMarks, timeWithin } from "../lib/format.js";
import { colour } from "../lib/theme.js";

const HEIGHT = 190;
const AHEAD = "at this pace";
const FONT = "11px system-ui, sans-serif";
const GAP = 5; // beside a word
export const AXIS = 64; // width of the axis of lag, at the least
export const MARGIN = 32; // to the right of the plot: the last mark of time is centred on its edge
const HIGHEST = 1.25; // of the greatest lag of the past

let uPlot = null;

export class Chart {
  // `series`: [{ label, colour }], in the order of the data.
  constructor(series, label) {
    this.series = series;
    this.place = h("div", { class: "plot" });
    this.readout = h("p", { class: "readout", "aria-live": "off" });
    this.element = h(
      "div",
      { class: "chart", role: "img", "aria-label": label },
      this.place,
      this.readout,
    );
    this.sizes = new ResizeObserver(() =>
      this.plot?.setSize({ width: this.place.clientWidth, height: HEIGHT }),
    );
    this.sizes.observe(this.place);
  }

  // `ahead`: a projection of the first column, or null; `left`: where the plot begins at the least.
  async show(times, columns, ahead = null, left = 0) {
    const isMoved = this.left !== Math.max(left, AXIS);
    this.left = Math.max(left, AXIS);
    const after = ahead?.times ?? [];
    const blank = (column) => new Array(column.length).fill(null);
    const lines = [ahead?.slow, ahead?.fast].map((line) =>
      line ? [...blank(times).slice(1), ...line] : blank(times),
    );
    this.ahead = ahead;
    this.now = times.length - 1;
    this.data = [
      [...times, ...after].map((ms) => ms / 1000),
      ...columns.map((column) => [...column, ...blank(after)]),
      ...lines,
    ];
    this.element.setAttribute("aria-description", this.#inWords());
    if (!this.plot || isMoved) await this.redraw();
    else this.plot.setData(this.data);
    this.#read(this.plot.cursor.idx);
  }

  // From when to when it reaches, in milliseconds.
  get span() {
    return [this.data[0][0] * 1000, this.data[0].at(-1) * 1000];
  }

  async redraw() {
    if (!this.data) return;
    uPlot ??= (await import("../lib/uplot.js")).default; // printing does not wait: it is there then
    this.plot?.destroy();
    const [line, text] = [colour("line"), colour("muted")];
    const axis = {
      stroke: text,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
    };
    this.plot = new uPlot(
      {
        width: this.place.clientWidth || 600,
        height: HEIGHT,
        padding: [8, MARGIN, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { size: 6 } },
        scales: { y: { range: (_, __, most) => [0, this.#highest(most)] } },
        axes: [
          { ...axis, space: 80, size: 32, values: (_, marks) => timeMarks(marks) },
          { ...axis, size: this.left, values: (_, ticks) => ticks.map(brief) },
        ],
        series: [
          {},
          ...this.series.map((each) => ({
            label: each.label,
            stroke: colour(each.colour),
            width: each.dash ? 1.5 : 2,
            dash: each.dash,
            fill: each.fill ? colour(each.fill) : undefined,
            points: { show: false },
          })),
          ...[AHEAD, AHEAD].map((label) => ({
            label,
            stroke: colour("accent"),
            width: 1.5,
            dash: [2, 4],
            points: { show: false },
          })),
        ],
        bands: [{ series: [this.series.length + 1, this.series.length + 2], fill: colour("accent-fill") }],
        hooks: {
          setCursor: [(plot) => this.#read(plot.cursor.idx)],
          draw: [(plot) => this.#markNow(plot)],
        },
      },
      this.data,
      this.place,
    );
  }

  // What is ahead may leave the picture: it does not make the past flat.
  #highest(most) {
    const past = this.data[1].reduce((found, value) => Math.max(found, value ?? 0), 0);
    return Math.max(Math.min(most, past * HIGHEST) * 1.08, 1);
  }

  // A line where the past ends, and a word about what is beyond it.
  #markNow(plot) {
    if (!this.ahead) return;
    const { ctx: pen, bbox: box } = plot;
    const scale = devicePixelRatio || 1;
    const x = plot.valToPos(this.data[0][this.now], "x", true);
    pen.save();
    pen.scale(scale, scale);
    pen.strokeStyle = pen.fillStyle = colour("muted");
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(x / scale, box.top / scale);
    pen.lineTo(x / scale, (box.top + box.height) / scale);
    pen.stroke();
    pen.font = FONT;
    pen.textAlign = "left";
    pen.textBaseline = "top";
    const room = (box.left + box.width - x) / scale - GAP;
    if (pen.measureText(AHEAD).width < room) pen.fillText(AHEAD, x / scale + GAP, box.top / scale);
    pen.restore();
  }

  #read(at) {
    const times = this.data[0];
    const column = at ?? this.now;
    const span = [times[0] * 1000, times.at(-1) * 1000];
    const when = times[at] === undefined ? "now" : timeWithin(times[at] * 1000, span);
    if (column > this.now) {
      this.readout.replaceChildren(h("span", { class: "when" }, when), this.#future(column));
      return;
    }
    const values = this.series.map((each, number) => {
      const value = this.data[number + 1][column];
      const text = value === null || value === undefined ? "–" : brief(Math.round(value));
      return h("span", { class: `key ${each.colour}` }, `${each.label} ${text}`);
    });
    if (this.ahead) values.push(h("span", { class: "key ahead" }, this.ahead.text));
    this.readout.replaceChildren(h("span", { class: "when" }, when), ...values);
  }

  #future(column) {
    const [slow, fast] = this.data.slice(-2).map((line) => brief(Math.round(line[column])));
    const text = slow === fast ? slow : `${fast} to ${slow}`;
    return h("span", { class: "key ahead" }, `${this.series[0].label} ${AHEAD} ${text}`);
  }

  #inWords() {
    const known = this.data[1].filter((value) => value !== null);
    if (!known.length) return "Nothing is known.";
    const last = briefly(Math.round(known.at(-1)), "message");
    const next = this.ahead ? ` From now on, ${this.ahead.text}.` : "";
    return `From ${brief(Math.round(known[0]))} to ${last}.${next}`;
  }

  close() {
    this.sizes.disconnect();
    this.plot?.destroy();
  }
}
