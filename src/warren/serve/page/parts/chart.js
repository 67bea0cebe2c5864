// Lines over time, by uPlot.

import { h } from "../lib/dom.js";
import { brief, timeMarks, timeWithin } from "../lib/format.js";
import { colour } from "../lib/theme.js";

const HEIGHT = 190;

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

  async show(times, columns) {
    this.data = [times.map((ms) => ms / 1000), ...columns];
    this.element.setAttribute("aria-description", this.#inWords());
    if (!this.plot) await this.redraw();
    else this.plot.setData(this.data);
    this.#read(this.plot.cursor.idx);
  }

  async redraw() {
    const { default: uPlot } = await import("../lib/uplot.js");
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
        padding: [8, 32, 0, 0], // the last mark of time is centred on the edge
        legend: { show: false },
        cursor: { y: false, points: { size: 6 } },
        scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.08, 1)] } },
        axes: [
          { ...axis, space: 80, size: 32, values: (_, marks) => timeMarks(marks) },
          { ...axis, size: 64, values: (_, ticks) => ticks.map(brief) },
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
        ],
        hooks: { setCursor: [(plot) => this.#read(plot.cursor.idx)] },
      },
      this.data,
      this.place,
    );
  }

  #read(at) {
    const times = this.data[0];
    const column = at ?? times.length - 1;
    const span = [times[0] * 1000, times.at(-1) * 1000];
    const when = times[at] === undefined ? "now" : timeWithin(times[at] * 1000, span);
    const values = this.series.map((each, number) => {
      const value = this.data[number + 1][column];
      const text = value === null || value === undefined ? "–" : brief(Math.round(value));
      return h("span", { class: `key ${each.colour}` }, `${each.label} ${text}`);
    });
    this.readout.replaceChildren(h("span", { class: "when" }, when), ...values);
  }

  #inWords() {
    const known = this.data[1].filter((value) => value !== null);
    if (!known.length) return "Nothing is known.";
    return `From ${brief(Math.round(known[0]))} to ${brief(Math.round(known.at(-1)))} messages.`;
  }

  close() {
    this.sizes.disconnect();
    this.plot?.destroy();
  }
}
