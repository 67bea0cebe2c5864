// The numbers beside a verdict in words: how far behind, when it has caught up, what is lost.
//
// The truth lies between `low` and `high`. What is missing is an em dash, with the reasons on
// hover: the `lacks` of the answer.

import { h } from "../lib/dom.js";
import {
  between,
  brief,
  count,
  counted,
  duration,
  exactlyBetween,
  NONE,
  rate,
} from "../lib/format.js";

const DAY_S = 86_400;
const SAME = "it reads about as fast as the log grows";
const SAME_PACE = 0.05; // reads and grows are the same when they differ by less than this part
const METHODS = {
  __proto__: null, // an answer names methods, nothing else
  by_ends: ", by log ends",
  by_clock: ", by the timestamps of records, which trusts the clocks of their producers",
};

const isNumber = Number.isFinite;

function reasons({ lacks }) {
  return lacks?.length ? `Not known. What is missing: ${lacks.join("; ")}.` : "Not known.";
}

// All of these give { text, title, value }: what is read, what the hover adds, what to sort by.

// The age of the oldest record that is not read.
export function behind(numbers) {
  const { seconds, low, high, method } = numbers.age ?? {};
  if (method === "nothing_unread") return { text: "0 s", title: "Nothing is unread.", value: 0 };
  const least = low ?? seconds;
  if (!isNumber(least)) return { text: NONE, title: reasons(numbers), value: null };
  const how = METHODS[method] ?? "";
  if (isNumber(high)) {
    const text = duration(seconds ?? least);
    return { text, title: exactlyBetween(least, high) + how, value: seconds ?? least };
  }
  const why = numbers.lacks?.length ? `: ${numbers.lacks.join("; ")}` : "";
  return { text: `> ${duration(least)}`, title: `At least ${duration(least)}${how}${why}.`, value: least };
}

const hasNothing = ({ lag, drain }) => lag?.now === 0 || (drain?.low === 0 && drain.high === 0);

// Sums may hide a partition that stands still, its status does not.
function keepsPace({ status, produced, consumed }) {
  return status === "OK" && produced > 0 && Math.abs(produced - consumed) <= SAME_PACE * produced;
}

// How long until everything is read, at the present pace.
export function catchUp(numbers) {
  const { low, high } = numbers.drain ?? {};
  if (hasNothing(numbers)) return { text: "0 s", title: "Nothing waits.", value: 0 };
  if (high === "never" && keepsPace(numbers)) return never(numbers, "keeps pace", SAME);
  if (low === "never") return never(numbers, "never", "it does not gain on the log");
  if (!isNumber(low)) return { text: NONE, title: reasons(numbers), value: null };
  if (!isNumber(high)) {
    const title = `At the best in ${duration(low)}; at the worst not at this pace.${paces(numbers)}`;
    return { text: `${duration(low)} or never`, title, value: Infinity };
  }
  const title = `In ${exactlyBetween(low, high)} at this pace.${paces(numbers)}`;
  return { text: between(low, high), title, value: high };
}

function never(numbers, text, why) {
  return { text, title: `Not at this pace: ${why}.${paces(numbers)}`, value: Infinity };
}

function paces({ produced, consumed }) {
  if (!isNumber(produced) || !isNumber(consumed)) return "";
  return ` It reads ${rate(consumed)}; the log grows by ${rate(produced)}.`;
}

// The lag, with its bounds where they differ.
export function lagOf(total, numbers, also = "") {
  const { low, high } = numbers.lag ?? {};
  const isSpan = isNumber(low) && isNumber(high) && low !== high;
  const title = isSpan
    ? `${count(low)} to ${counted(high, "message")}`
    : counted(total, "message");
  return { text: brief(total), title: title + also, value: total };
}

// How long a topic keeps its records.
export function retentionOf(seconds) {
  if (seconds === "never") return "for ever";
  return isNumber(seconds) ? duration(seconds) : NONE;
}

// As an element, with what the hover adds.
export const shown = ({ text, title }) => h("span", { title }, text);

// What must not be overlooked, in a few words for a list and in sentences.
export function alarms(numbers) {
  const { lost, margin_s: margin, offsets_expire_s: expiry } = numbers;
  const found = [];
  if (lost > 0)
    found.push({
      brief: `${brief(lost)} lost`,
      text: `${counted(lost, "record")} ${lost === 1 ? "was" : "were"} lost to retention before the group had read ${lost === 1 ? "it" : "them"}.`,
    });
  if (isRunningOut(numbers)) {
    const when = margin < 1 ? "are being lost now" : `will be lost in about ${duration(margin)}`;
    found.push({
      brief: margin < 1 ? "losing records" : `loss in ${duration(margin)}`,
      text: `Unread records ${when} at this pace: retention reaches them before the group does.`,
    });
  }
  if (isNumber(expiry) && expiry <= DAY_S)
    found.push({
      brief: `offsets expire in ${duration(expiry)}`,
      text: `The brokers will forget offsets of it in about ${duration(expiry)}: no member reads there.`,
    });
  return found;
}

// Something waits that retention will take within a day, and that is not surely read before.
function isRunningOut({ margin_s: margin, lag, drain, age }) {
  const waits = lag ? lag.now !== 0 : age?.method !== "nothing_unread";
  const isReadBefore = isNumber(drain?.high) && drain.high < margin;
  return waits && isNumber(margin) && margin <= DAY_S && !isReadBefore;
}
