// What happened to a group: its verdicts and rebalances, as a strip below the chart and as a list.

import { h, renew, section } from "../lib/dom.js";
import { clockTime, duration, exactly, iso } from "../lib/format.js";
import { changed } from "./status.js";

const MOST = 100; // lines of the list
const NARROWEST = 0.004; // part of the strip, so that a short verdict is seen

export class Timeline {
  constructor() {
    this.strip = h("div", { class: "strip", role: "img" });
    this.list = h("ul", { class: "happened" });
    this.element = section("Verdicts and rebalances", this.list);
  }

  // `changes` of /v4/changes, the newest first, and `answer` of /v4/group.
  know(changes, { summary, since }) {
    this.status = summary.status;
    this.since = since;
    this.changes = changes;
    this.#drawList();
  }

  // The verdicts between two moments; `kept` has those of history, or is null.
  draw([from, to], now, kept) {
    this.strip.hidden = !this.since;
    if (!this.since) return;
    const spans = kept ? this.#withHistory(kept, now) : this.#spans(now);
    const place = (ms) => Math.min(Math.max((ms - from) / (to - from || 1), 0), 1);
    const inSight = spans.filter((span) => span.status && place(span.until) > place(span.from));
    const parts = inSight.map((span) => {
      const [left, right] = [place(span.from), place(span.until)];
      const part = h("span", { class: `verdict-span ${span.status.toLowerCase()}` }, span.status);
      part.title = `${span.status} from ${exactly(Math.max(span.from, from))}`;
      part.style.left = `${left * 100}%`;
      part.style.width = `${Math.max(right - left, NARROWEST) * 100}%`;
      return part;
    });
    const marks = this.since.rebalances_ms
      .filter((ms) => ms >= from && ms <= to)
      .map((ms) => {
        const mark = h("span", { class: "rebalance", title: `Rebalanced ${exactly(ms)}` });
        mark.style.left = `${place(ms) * 100}%`;
        return mark;
      });
    this.strip.setAttribute("aria-label", inWords(inSight, marks.length));
    renew(this.strip, [...parts, ...marks]);
  }

  // What history has of the time before this Warren began to watch, and of a period that is over.
  #withHistory(kept, now) {
    const seen = this.#spans(now);
    const { watched_ms: began } = this.since;
    const before = ofHistory(kept, Math.min(now, began));
    return [...before.map((span) => ({ ...span, until: Math.min(span.until, began) })), ...seen];
  }

  // From what this Warren has seen.
  #spans(now) {
    const spans = [];
    let until = now;
    for (const { moment_ms: from, before, after } of this.changes) {
      spans.unshift({ status: after, from, until });
      until = from;
      if (!before) return spans;
    }
    const status = this.changes.at(-1)?.before ?? this.status;
    return [{ status, from: this.since.watched_ms, until }, ...spans];
  }

  #drawList() {
    if (!this.since) return;
    const events = [
      ...this.changes.map((each) => ({ ms: each.moment_ms, shown: arrow(each) })),
      ...this.since.rebalances_ms.map((ms) => ({ ms, shown: [h("span", null, "rebalanced")] })),
    ].sort((a, b) => b.ms - a.ms);
    const begin = h(
      "li",
      null,
      h("time", { datetime: iso(this.since.watched_ms) }, exactly(this.since.watched_ms)),
      h("span", { class: "of" }, "Warren began to watch"),
    );
    const lines = events.slice(0, MOST).map(({ ms, shown }) =>
      h("li", null, h("time", { datetime: iso(ms) }, exactly(ms)), h("span", null, ...shown)),
    );
    renew(this.list, [...lines, begin]);
  }
}

const arrow = ({ before, after }) => {
  const [from, to] = changed(before, after);
  return [from, " → ", to];
};

// From the status in each step of a history; a step without one has none.
function ofHistory({ times_ms: times, status }, now) {
  const spans = [];
  status.forEach((each, at) => {
    const until = times[at + 1] ?? Math.max(now, times[at]);
    const last = spans.at(-1);
    if (last?.status === each) last.until = until;
    else spans.push({ status: each, from: times[at], until });
  });
  return spans;
}

function inWords(spans, rebalances) {
  const told = spans.map(({ status, from, until }) => {
    return `${status} from ${clockTime(from)} for ${duration((until - from) / 1000)}`;
  });
  const rest = rebalances ? `; rebalanced ${rebalances} times` : "";
  return `Verdicts: ${told.slice(-20).join(", ") || "none known"}${rest}`;
}

// Since when the status holds, as { text, title }.
export function statusSince({ since, board }, incident) {
  if (!since) return { text: "–", title: "Not known." };
  const isWhole = since.status_ms > since.watched_ms;
  const began = !isWhole && incident ? incident.began_ms : since.status_ms;
  const text = duration((board.moment_ms - began) / 1000);
  if (isWhole || began !== since.status_ms) return { text, title: `Since ${exactly(began)}` };
  return { text: `> ${text}`, title: `At least since ${exactly(began)}, when Warren began to watch` };
}
