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

export const count = (number) =>
  number === null || number === undefined ? "–" : whole.format(number);

export const brief = (number) =>
  Math.abs(number) < 1e6 ? whole.format(number) : short.format(number);

export const percent = (part) => `${Math.round(part * 100)} %`;

// Messages a second.
export function rate(number) {
  if (number === null || number === undefined) return "–";
  if (Math.abs(number) >= 1e6) return `${brief(number)} msg/s`;
  const digits = Math.abs(number) < 10 && number % 1 ? 1 : 0;
  return `${Number(number.toFixed(digits)).toLocaleString("en")} msg/s`;
}

export function growth(number) {
  return number > 0 ? `+${rate(number)}` : rate(number).replace("-", "−");
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 90) return `${Math.max(Math.round(seconds), 0)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

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
