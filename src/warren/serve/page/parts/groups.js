// The overview's data: from columns to rows, and which of them in which order.

import { h, named } from "../lib/dom.js";
import { count, counted } from "../lib/format.js";
import { badge } from "./status.js";

const RANK = { OK: 0, WARN: 1, ERR: 2 };
const byName = (a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0);

const ORDERS = {
  __proto__: null, // an address names orders, nothing else
  trouble: {
    direction: "descending",
    compare: (a, b) => RANK[b.status] - RANK[a.status] || b.lag - a.lag,
  },
  name: { direction: "ascending", compare: byName },
  behind: {
    direction: "descending",
    compare: (a, b) => b.behindS - a.behindS,
    isKnown: (row) => row.behindS !== null,
  },
  lag: { direction: "descending", compare: (a, b) => b.lag - a.lag },
  age: { direction: "ascending", compare: (a, b) => a.lastMs - b.lastMs },
};
// The orders in a list, for screens without column heads.
export const ORDER_NAMES = {
  trouble: "Trouble first",
  name: "By name",
  behind: "Farthest behind first",
  lag: "Greatest lag first",
  age: "Oldest commit first",
  "-age": "Newest commit first",
};
const OPPOSITE = { ascending: "descending", descending: "ascending" };

// A minus before a name reverses the order. In both what is not known comes last, and ties are
// sorted by name.
export function orderOf(sort) {
  const { direction, compare, isKnown } = ORDERS[sort.replace("-", "")] ?? ORDERS.trouble;
  const last = isKnown ? (a, b) => isKnown(b) - isKnown(a) : () => 0;
  if (!sort.startsWith("-"))
    return { direction, compare: (a, b) => last(a, b) || compare(a, b) || byName(a, b) };
  return {
    direction: OPPOSITE[direction],
    compare: (a, b) => last(a, b) || compare(b, a) || byName(a, b),
  };
}

export function rowsOf(answer) {
  return answer.clusters.flatMap((of) => {
    const topics = of.topic_names.map((name) => name.toLowerCase());
    const owners = of.owner_names.map((name) => name.toLowerCase());
    const words = (names, some) => some.map((number) => names[number]).join("\n");
    return of.group.map((group, at) => ({
      key: `${of.name}\n${group}`,
      cluster: of.name,
      group,
      status: of.status[at],
      worst: of.worst[at],
      behindS: of.age_s?.[at] ?? of.age_low_s?.[at] ?? null,
      lag: of.total_lag[at],
      partitions: of.partition_count[at],
      topic: of.max_lag_topic[at],
      partition: of.max_lag_partition[at],
      maxLag: of.max_lag[at],
      lastMs: of.last_commit_ms[at],
      owner: of.owner[at],
      trend: of.trend[at],
      of,
      at,
      words: `${group.toLowerCase()}\n${words(topics, of.topics[at])}\n${words(owners, of.owners[at])}`,
    }));
  });
}

// The numbers of a row as other answers have them; they are missing until they are measured.
export function numbersOf({ of, at, status }) {
  const value = (name) => of[name]?.[at] ?? null;
  return {
    status,
    lag: { now: value("lag"), low: value("lag_low"), high: value("lag_high") },
    age: {
      seconds: value("age_s"),
      low: value("age_low_s"),
      high: value("age_high_s"),
      method: value("age_method"),
    },
    produced: value("produced"),
    consumed: value("consumed"),
    drain: { low: value("drain_low_s"), high: value("drain_high_s") },
    margin_s: value("margin_s"),
    lost: value("lost"),
    offsets_expire_s: value("offsets_expire_s"),
  };
}

// Those that match, sorted, and how many there would be of each status.
export const isStatus = (status) => status in RANK;

export function chosen(rows, { text, status, cluster, sort }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = { OK: 0, WARN: 0, ERR: 0 };
  const shown = [];
  for (const row of rows) {
    if (cluster && row.cluster !== cluster) continue;
    if (!words.every((word) => row.words.includes(word))) continue;
    counts[row.status] += 1;
    if (!status || row.status === status) shown.push(row);
  }
  shown.sort(orderOf(sort).compare);
  return { shown, counts };
}

export function clusterCards(answer, chosenCluster, choose) {
  return answer.clusters.map((cluster) => {
    const counts = { ERR: 0, WARN: 0, OK: 0 };
    for (const status of cluster.status) counts[status] += 1;
    return h(
      "button",
      {
        type: "button",
        class: "cluster",
        "data-cluster": cluster.name,
        "aria-pressed": String(chosenCluster === cluster.name),
        onclick: (event) => choose(event.currentTarget.dataset.cluster),
      },
      h(
        "span",
        { class: "title" },
        named(cluster.name),
        h("span", { class: "of" }, counted(cluster.group.length, "group")),
      ),
      bar(counts),
      h(
        "span",
        { class: "counts" },
        ...Object.entries(counts).map(([status, number]) =>
          h("span", null, badge(status), ` ${count(number)}`),
        ),
      ),
      cluster.problem ? h("span", { class: "problem" }, cluster.problem) : null,
    );
  });
}

function bar(counts) {
  const parts = Object.entries(counts).map(([status, number]) => {
    const part = h("span", { class: `part ${status.toLowerCase()}` });
    part.style.flexGrow = number;
    return part;
  });
  return h("span", { class: "stack", "aria-hidden": "true" }, ...parts);
}
