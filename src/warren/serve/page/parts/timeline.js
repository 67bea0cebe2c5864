// What happened to a group: its verdicts and rebalances, as a strip below the chart and as a list.

import { h, renew, section } from "../lib/dom.js";
import { clockTime, counted, duration, exactly, iso, NONE } from "../lib/format.js";
import { badge, changed } from "./status.js";

const MOST = 100; // lines of the list
const NARROWEST = 0.004; // part of the strip, so that a short verdict is seen

export class Timeline {
  constructor() {
    this.strip = h("div", { class: "strip", role: "img" });
    this.list = h("ul", { class: "happened" });
    this.element = section("Verdicts and rebalances", this.list);
  }

  // The answers of /v4/changes, whose changes begin with the newest, and of /v4/group.
  know({ changes, complete_since_ms: complete }, { summary, since }) {
    this.status = summary.status;
    this.since = since;
    this.changes = changes;
    this.knownSince = Math.max(complete, since?.watched_ms);
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
      const word = h("span", { class: "word" }, span.status);
      const part = h("span", { class: `verdict-span ${span.status.toLowerCase()}` }, word);
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

  // What history has of the time of which this Warren remembers nothing.
  #withHistory(kept, now) {
    const seen = this.#spans(now);
    const began = Math.min(seen[0].from, now);
    const before = ofHistory(kept, began);
    return [...before.map((span) => ({ ...span, until: Math.min(span.until, began) })), ...seen];
  }

  // What this Warren remembers without a gap.
  #spans(now) {
    const spans = [];
    let until = now;
    for (const { moment_ms: from, before, after } of this.changes) {
      spans.unshift({ status: after, from, until });
      until = from;
      if (!before) return spans;
    }
    const first = this.changes.length
      ? { status: this.changes.at(-1).before, from: this.knownSince }
      : { status: this.status, from: this.since.status_ms };
    return [{ ...first, until }, ...spans];
  }

  #drawList() {
    if (!this.since) return;
    const { watched_ms: watched, status_ms: began, rebalances_ms: rebalances } = this.since;
    const isForgotten = !this.changes.length && began > watched;
    const events = [
      ...this.changes.map((each) => ({ ms: each.moment_ms, shown: arrow(each) })),
      ...(isForgotten ? [{ ms: began, shown: ["then it became ", badge(this.status)] }] : []),
      ...rebalances.map((ms) => ({ ms, shown: ["rebalanced"] })),
    ].sort((a, b) => b.ms - a.ms);
    const notes = [
      ...(this.knownSince > watched
        ? [{ ms: this.knownSince, shown: ["what was before may be forgotten"] }]
        : []),
      { ms: watched, shown: ["Warren began to watch"] },
    ];
    renew(this.list, [
      ...events.slice(0, MOST).map((each) => line(each, null)),
      ...notes.map((each) => line(each, "of")),
    ]);
  }
}

const line = ({ ms, shown }, kind) =>
  h("li", null, h("time", { datetime: iso(ms) }, exactly(ms)), h("span", { class: kind }, ...shown));

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
  const rest = rebalances ? `; ${counted(rebalances, "rebalance")}` : "";
  return `Verdicts: ${told.slice(-20).join(", ") || "none known"}${rest}`;
}

// Since when the status holds, as { text, title }.
export function statusSince({ since, board }, incident) {
  if (!since) return { text: "–", title: "Not known." };
  const isWhole = since.status_ms > since.watched_ms;
  const began = !isWhole && incident ? incident.began_ms : since.status_ms;
  const seconds = (board.moment_ms - began) / 1000;
  if (!isWhole && seconds < 0.5) return { text: NONE, title: "Warren has just begun to watch." };
  const text = duration(seconds);
  if (isWhole || began !== since.status_ms) return { text, title: `Since ${exactly(began)}` };
  return { text: `> ${text}`, title: `At least since ${exactly(began)}, when Warren began to watch` };
}
