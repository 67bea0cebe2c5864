// Numbers and times for people; the exact value is always a hover away.

import { h } from "./dom.js";

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const exact = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "long",
});
const dayAndTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

// A client may commit any timestamp: one outside the calendar is shown as the nearest inside.
const [FIRST_MS, LAST_MS] = [-62_135_596_800_000, 253_402_300_799_999]; // years 1 to 9999
const within = (ms) => Math.min(Math.max(ms, FIRST_MS), LAST_MS);

export const NONE = "—"; // not known

export const count = (number) =>
  number === null || number === undefined ? "–" : whole.format(number);

export const brief = (number) =>
  Math.abs(number) < 1e6 ? whole.format(number) : short.format(number);

// "1 message", "2 messages".
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export const briefly = (number, noun) => `${brief(number)} ${noun}${number === 1 ? "" : "s"}`;

export const percent = (part) => `${Math.round(part * 100)} %`;

// Messages a second.
export function rate(number) {
  if (number === null || number === undefined) return "–";
  if (Math.abs(number) >= 1e6) return `${brief(number)} msg/s`;
  const digits = Math.abs(number) < 10 && number % 1 ? 1 : 0;
  return `${rounded(number, digits).toLocaleString("en")} msg/s`;
}

const rounded = (number, digits) => Number(number.toFixed(digits)) + 0; // never -0

// With its sign; what rounds to nothing has none.
export function growth(number) {
  const text = rate(number);
  if (/^-/.test(text)) return text.replace("-", "−");
  return number > 0 && text !== "0 msg/s" ? `+${text}` : text;
}

// The same, for a narrow column.
export const briefGrowth = (number) => growth(number).replace(" msg", "");

// The same as a sentence.
export function growthInWords(number) {
  const text = rate(Math.abs(number));
  if (text === "0 msg/s") return "The lag stays as it is.";
  return `The lag ${number > 0 ? "grows" : "shrinks"} by ${text}.`;
}

const [MINUTE_S, HOUR_S, DAY_S, YEAR_S] = [60, 3600, 86_400, 31_557_600];

const MOST_YEARS = 1000; // more is a clock or a number gone wrong

// The number and its unit.
function inUnit(seconds) {
  if (seconds < 90) return [String(Math.max(Math.round(seconds), 0)), "s"];
  if (seconds < 90 * MINUTE_S) return [String(Math.round(seconds / MINUTE_S)), "min"];
  if (seconds < 36 * HOUR_S) return [String(Math.round(seconds / HOUR_S)), "h"];
  if (seconds < 2 * YEAR_S) return [String(Math.round(seconds / DAY_S)), "d"];
  const years = Math.round(seconds / YEAR_S);
  return [years > MOST_YEARS ? `${whole.format(MOST_YEARS)}+` : String(years), "y"];
}

export function duration(seconds) {
  return Number.isFinite(seconds) ? inUnit(seconds).join(" ") : "–";
}

// "11 to 13 min", "50 s to 2 min", or one length of time where both read the same.
export function between(low, high) {
  const [[less, unit], [more, last]] = [inUnit(low), inUnit(high)];
  if (unit !== last) return `${less} ${unit} to ${more} ${last}`;
  return less === more ? `${less} ${unit}` : `${less} to ${more} ${unit}`;
}

// The same, with the next smaller unit where the two would read alike.
export function exactlyBetween(low, high) {
  if (duration(low) !== duration(high)) return between(low, high);
  const [less, more] = [inTwoUnits(low), inTwoUnits(high)];
  return less === more ? less : `${less} to ${more}`;
}

const SMALLER = [
  [DAY_S, "d", HOUR_S, "h"],
  [HOUR_S, "h", MINUTE_S, "min"],
  [MINUTE_S, "min", 1, "s"],
];

function inTwoUnits(seconds) {
  const rounded = Math.round(seconds);
  const [size, unit, small, smaller] = SMALLER.find(([each]) => rounded >= each) ?? [];
  if (!size || rounded >= 2 * YEAR_S) return seconds < 10 ? tenths(seconds) : duration(seconds);
  const rest = Math.floor((rounded % size) / small);
  return `${Math.floor(rounded / size)} ${unit}${rest ? ` ${rest} ${smaller}` : ""}`;
}

const tenths = (seconds) => `${Number(Math.max(seconds, 0).toFixed(1))} s`;

// In the reader's zone, with the zone's name.
export const exactly = (ms) => exact.format(within(ms));
export const clockTime = (ms) => clock.format(within(ms));
export const iso = (ms) => new Date(within(ms)).toISOString();

// One of several times: with the day when they are far apart.
export function timeWithin(ms, [from, to]) {
  return to - from < 12 * 3_600_000 ? clockTime(ms) : dayAndTime.format(within(ms));
}

// Marks of a time axis, as precise as their distance needs.
export function timeMarks(seconds) {
  const apart = seconds.length > 1 ? seconds[1] - seconds[0] : 60;
  const parts =
    apart >= 86_400
      ? { day: "numeric", month: "short" }
      : { hour: "2-digit", minute: "2-digit", ...(apart < 60 ? { second: "2-digit" } : {}) };
  const format = new Intl.DateTimeFormat("en-GB", parts);
  return seconds.map((each) => format.format(within(each * 1000)));
}

export function ago(ms, nowMs) {
  if (!ms) return h("span", null, "never");
  const text = `${duration((nowMs - ms) / 1000)} ago`;
  return h("time", { datetime: iso(ms), title: `${exactly(ms)} (${iso(ms)})` }, text);
}
