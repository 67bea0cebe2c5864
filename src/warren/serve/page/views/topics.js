// All topics: how fast they grow, who reads them, and how far behind the worst reader is.

import { h, named } from "../lib/dom.js";
import { brief, count, counted, NONE, rate } from "../lib/format.js";
import { get } from "../parts/api.js";
import { exportMenu } from "../parts/exports.js";
import { topicLink } from "../parts/links.js";
import { behind, retentionOf, shown } from "../parts/numbers.js";
import { badge, rank } from "../parts/status.js";
import { sortable } from "../parts/tables.js";

const known = (value, inWords) => (value === null ? NONE : inWords(value));
const number = true;
const RETENTION_RANK = { never: Infinity };

const TOPIC = {
  label: "Topic",
  cell: ({ cluster, topic }) => h("a", { href: topicLink(cluster, topic) }, named(topic)),
  value: ({ topic }) => topic,
  gives: true,
};
const CLUSTER = { label: "Cluster", cell: (row) => named(row.cluster), value: (row) => row.cluster };
const NUMBERS = [
  {
    label: "Worst status",
    cell: (row) => (row.worst ? badge(row.worst) : NONE),
    value: (row) => (row.worst ? rank(row.worst) : null),
  },
  {
    label: "Greatest lag",
    cell: (row) => known(row.max_lag, brief),
    value: (row) => row.max_lag,
    number,
  },
  {
    label: "Behind by",
    cell: (row) => (row.groups ? shown(behind(row)) : NONE),
    value: (row) => behind(row).value,
    number,
  },
  { label: "Groups", cell: (row) => count(row.groups), value: (row) => row.groups, number },
  { label: "Rate", cell: (row) => known(row.rate, rate), value: (row) => row.rate, number },
  { label: "Partitions", cell: (row) => count(row.partitions), value: (row) => row.partitions, number },
  {
    label: "Retention",
    cell: (row) => retentionOf(row.retention_s),
    value: (row) => RETENTION_RANK[row.retention_s] ?? row.retention_s,
    number,
  },
];
const columns = (isWide) => [TOPIC, ...(isWide ? [CLUSTER] : []), ...NUMBERS];
const FIELDS = [
  ...["cluster", "topic", "partitions", "rate", "groups", "worst", "max_lag", "seconds", "low"],
  "retention_s",
];
const HEADS = FIELDS.map((name) => ({ seconds: "behind_s", low: "behind_at_least_s" })[name] ?? name);

export function topicsView() {
  const search = h("input", {
    type: "search",
    placeholder: "Topic",
    "aria-label": "Search topics",
    autocomplete: "off",
    oninput: () => draw(),
  });
  const note = h("p", { class: "total", role: "status" });
  const table = sortable("Topics", columns(false));
  let all = [];
  let isWide = false; // of several clusters
  const source = () => {
    const match = search.value.trim();
    return { name: "topics", path: "/v4/topics", parameters: match ? { match } : {} };
  };
  const rows = () => found().map(({ age, ...row }) => FIELDS.map((name) => row[name] ?? age[name]));
  const exporting = exportMenu(source, () => [HEADS, ...rows()]);
  const element = h(
    "article",
    { class: "page topics" },
    h("h1", { class: "unseen" }, "Topics"),
    h("div", { class: "tools" }, search, note, exporting),
    h("section", { class: "card" }, table.element),
  );

  const found = () => {
    const word = search.value.trim().toLowerCase();
    return all.filter(({ topic }) => topic.toLowerCase().includes(word));
  };

  function draw() {
    const some = found();
    note.textContent =
      some.length || !all.length
        ? counted(some.length, "topic")
        : `No topic has “${search.value}” in its name.`;
    table.show(some);
  }

  return {
    title: "Topics",
    element,
    async refresh() {
      ({ lines: all } = await get("/v4/topics"));
      const hasClusters = new Set(all.map(({ cluster }) => cluster)).size > 1;
      if (hasClusters !== isWide) table.change(columns(hasClusters));
      isWide = hasClusters;
      draw();
    },
  };
}
