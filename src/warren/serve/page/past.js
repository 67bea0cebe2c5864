// What history has kept of a group: asked for now and then, for Spark answers and takes its time.

import { get } from "./api.js";
import { badge, h, section } from "./dom.js";
import { brief, duration, exactly } from "./format.js";
import { gridOfHistory } from "./grid.js";

const RANGES = [
  ["", "Now"],
  ["1h", "1 h"],
  ["6h", "6 h"],
  ["24h", "24 h"],
  ["7d", "7 d"],
];
const AGAIN_MS = 60_000;
const SOON_MS = 10_000; // when there was no answer
const MOST_TOLD = 100;

export class Past {
  constructor(where, changed) {
    Object.assign(this, { where, changed, range: "", shown: null, nextLook: 0 });
    this.isKept = Boolean(document.body.dataset.history);
    const buttons = RANGES.map(([range, text]) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(range === ""),
          onclick: (event) => this.#choose(range, event.target),
        },
        text,
      ),
    );
    this.note = h("span", { class: "note", role: "status" });
    this.buttons = h(
      "div",
      { class: "segmented", role: "group", "aria-label": "Period" },
      ...buttons,
    );
    this.picker = h("div", { class: "tools", hidden: !this.isKept }, this.buttons, this.note);
    this.list = h("ul", { class: "incidents" });
    this.incidents = section(this.isKept ? "Incidents" : "Incidents seen by this page", this.list);
    this.list.append(
      h(
        "li",
        { class: "of" },
        this.isKept
          ? "History is being read …"
          : "None. A section [history] keeps those of the past.",
      ),
    );
  }

  // Without history there is what is told while the page is open.
  tell({ cluster, group, before, after, moment_ms }) {
    if (this.isKept || cluster !== this.where.cluster || group !== this.where.group) return;
    const time = h("time", { datetime: new Date(moment_ms).toISOString() }, exactly(moment_ms));
    const line = h(
      "li",
      null,
      badge(after ?? "gone"),
      time,
      h("span", { class: "of" }, `was ${before ?? "not there"}`),
    );
    if (!this.list.querySelector("time")) this.list.replaceChildren();
    this.list.prepend(line);
    this.list.children[MOST_TOLD]?.remove();
  }

  // What went wrong in the past, and all of it if a period is chosen.
  async look() {
    if (!this.isKept || performance.now() < this.nextLook) return;
    this.nextLook = performance.now() + AGAIN_MS;
    const { range } = this;
    try {
      const answer = await get("/v4/history", { ...this.where, since: range || "24h" });
      if (range !== this.range) return; // another period was chosen meanwhile
      this.#drawIncidents(answer);
      this.#keep(answer);
    } catch (error) {
      this.nextLook = performance.now() + SOON_MS;
      if (range === this.range) this.note.textContent = error.message;
    }
  }

  async #choose(range, button) {
    this.range = range;
    for (const each of this.buttons.children)
      each.setAttribute("aria-pressed", String(each === button));
    this.note.textContent = range ? "History is being read …" : "";
    this.shown = null;
    if (range) {
      this.nextLook = 0;
      await this.look();
    } else this.changed();
  }

  #keep(answer) {
    this.note.textContent = "";
    if (!this.range) return;
    this.note.textContent = answer.moments ? "" : "Nothing was kept in that time.";
    this.shown = answer.moments ? { answer, grid: gridOfHistory(answer) } : null;
    this.changed();
  }

  #drawIncidents({ incidents, since_ms }) {
    const heading = this.incidents.querySelector("h2");
    heading.textContent = `Incidents since ${exactly(since_ms)}`;
    const lines = [...incidents].reverse().map((each) => {
      const end = each.ended_ms ?? Date.now();
      const lasted = `${duration((end - each.began_ms) / 1000)}${each.ended_ms ? "" : ", not over"}`;
      return h(
        "li",
        null,
        badge(each.status),
        h("time", { datetime: new Date(each.began_ms).toISOString() }, exactly(each.began_ms)),
        h("span", { class: "of" }, `${lasted}, lag up to ${brief(each.max_lag)}`),
      );
    });
    this.list.replaceChildren(...(lines.length ? lines : [h("li", null, "None.")]));
  }

  close() {
    this.changed = () => {};
  }
}
