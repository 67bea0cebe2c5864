// The verdict in words, and what would make it another one.

import { badge, h, named, rank } from "../lib/dom.js";
import { topicLink } from "./links.js";

const MOST_NAMES = 8;

export function verdict({ status, why, change, reasons }, cluster) {
  const lines = alike(reasons).map((some) => line(some, cluster));
  return h(
    "section",
    { class: `card verdict ${status.toLowerCase()}` },
    h("h2", null, "Why, and what would change it"),
    h("p", { class: "why" }, why, " ", h("span", { class: "change" }, change)),
    lines.length ? h("ul", { class: "reasons" }, ...lines) : null,
  );
}

// By what decided, the worst state first, and in it the partition with the greatest lag.
function alike(reasons) {
  const lag = (reason) => reason.numbers.current_lag ?? 0;
  const groups = new Map();
  const worse = (a, b) => rank(b.status) - rank(a.status) || lag(b) - lag(a);
  for (const reason of [...reasons].sort(worse))
    groups.set(reason.rule, [...(groups.get(reason.rule) ?? []), reason]);
  return [...groups.values()];
}

const nameOf = ({ topic, partition }) => `${topic}:${partition}`;

function line([worst, ...others], cluster) {
  const link = h("a", { href: topicLink(cluster, worst.topic) }, named(nameOf(worst)));
  return h(
    "li",
    null,
    badge(worst.status),
    h(
      "div",
      null,
      h("p", null, link, " ", worst.why),
      h("p", { class: "change" }, worst.change),
      others.length ? h("p", { class: "of" }, ...likewise(others)) : null,
    ),
  );
}

function likewise(others) {
  const names = others.slice(0, MOST_NAMES).flatMap((reason) => [" ", named(nameOf(reason))]);
  const rest = others.length - MOST_NAMES;
  return ["Likewise:", ...names, rest > 0 ? ` and ${rest} more` : ""];
}
