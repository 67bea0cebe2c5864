// A status as it is shown, and which is worse.

import { h } from "../lib/dom.js";

export function badge(status) {
  return h("span", { class: `status ${status.toLowerCase()}` }, status);
}

// From one status to another: null before is a new group, null after one that is gone.
export function changed(before, after) {
  const state = (status, word) => (status ? badge(status) : h("span", null, word));
  return [state(before, "new"), state(after, "gone")];
}

// The states of a partition, from good to bad.
export const RANK = ["OK", "WARN", "STOP", "STALL", "REWIND"];
export const rank = (status) => RANK.indexOf(status);
