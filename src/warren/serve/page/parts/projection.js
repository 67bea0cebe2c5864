// How the lag goes on at the present pace: between a fast line and a slow one, from now on.

import { catchUp } from "./numbers.js";

const POINTS = 24;
const FARTHEST = 0.2; // of the past that is shown, so that this stays the most of the picture
const isNumber = Number.isFinite;

// `times` in ms and `lag` at each of them; null when nothing can be said, or when nothing waits.
export function projection(times, lag, numbers) {
  const [nowMs, now] = [times.at(-1), lag.at(-1)];
  const { low, high } = numbers?.drain ?? {};
  if (!now || !isKnown(low) || !isKnown(high)) return null;
  const farthest = (FARTHEST * (nowMs - times[0])) / 1000;
  const ends = [low, high].filter(isNumber);
  const length = Math.min(farthest, ends.length === 2 ? high * 1.1 : farthest);
  if (!(length > 0)) return null;
  const even = Array.from({ length: POINTS }, (_, at) => ((at + 1) * length) / POINTS);
  const after = [...even, ...ends.filter((end) => end < length)].sort((a, b) => a - b);
  const growth = Math.max((numbers.produced ?? 0) - (numbers.consumed ?? 0), 0);
  const line = (end) => (seconds) =>
    isNumber(end) ? now * Math.max(1 - seconds / end, 0) : now + growth * seconds;
  const both = [line(low), line(high)];
  return {
    times: after.map((seconds) => nowMs + seconds * 1000),
    fast: [now, ...after.map(both[0])],
    slow: [now, ...after.map(both[1])],
    text: inWords(numbers),
  };
}

// Messages a second; null of a group that has read everything, and when it is not known.
export function lagGrowth(total, { produced, consumed }) {
  return total && isNumber(produced) && isNumber(consumed) ? produced - consumed : null;
}

const isKnown = (end) => end === "never" || isNumber(end);

function inWords(numbers) {
  const { text, value } = catchUp(numbers);
  if (text === "keeps pace") return "at this pace it stays behind";
  if (value === Infinity && text === "never") return "at this pace it never catches up";
  return `at this pace it catches up in ${text}`;
}
