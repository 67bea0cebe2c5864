// A status as it is shown, and which is worse.

import { h } from "../lib/dom.js";

export function badge(status) {
  return h("span", { class: `status ${status.toLowerCase()}` }, status);
}

// The states of a partition, from good to bad.
export const RANK = ["OK", "WARN", "STOP", "STALL", "REWIND"];
export const rank = (status) => RANK.indexOf(status);
