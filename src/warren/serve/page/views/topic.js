// One topic: where its logs end, how fast they grow, and who is how far behind.

import { fact, facts, h, named, renew, section } from "../lib/dom.js";
import { brief, count, rate } from "../lib/format.js";
import { get } from "../parts/api.js";
import { groupLink } from "../parts/links.js";
import { badge, rank } from "../parts/status.js";
import { sortable } from "../parts/tables.js";

const MOST_GROUPS = 6; // that have a column of their own
const sum = (numbers) => numbers.reduce((total, number) => total + (number ?? 0), 0);

export function topicView({ names: [cluster, topic] }) {
  const head = h("header", { class: "title" });
  const numbers = h("div", null);
  const partitions = sortable("Partitions", partitionColumns([]));
  const groups = sortable(
    "Groups",
    [
      { label: "Status", cell: (group) => badge(group.status), value: (group) => rank(group.status) },
      {
        label: "Group",
        cell: (group) => h("a", { href: groupLink(cluster, group.group) }, named(group.group)),
        value: (group) => group.group,
      },
      {
        label: "Lag",
        cell: (group) => lagBar(group),
        value: (group) => group.total_lag,
        number: true,
      },
    ],
    { column: 2, down: true },
  );
  const element = h(
    "article",
    { class: "page" },
    head,
    numbers,
    section("Groups that read it", groups.element),
    section("Partitions, with the lag of its groups", partitions.element),
  );
  let beside = []; // the groups that have a column

  return {
    title: topic,
    element,
    async refresh() {
      const answer = await get("/v4/topic", { cluster, topic });
      const trail = h(
        "p",
        { class: "trail" },
        h("a", { href: "#/topics" }, "Topics"),
        " / ",
        named(cluster),
      );
      renew(head, [h("div", null, trail, h("h1", null, named(topic)))]);
      const known = answer.rates.filter((each) => each !== null);
      renew(numbers, [
        facts(
          fact("Partitions", count(answer.log_ends.length)),
          fact("Written so far", brief(sum(answer.log_ends))),
          fact("Grows", known.length ? rate(sum(known)) : "–"),
          fact("Groups", count(answer.groups.length)),
        ),
      ]);
      const most = Math.max(1, ...answer.groups.map((group) => group.total_lag));
      groups.show(answer.groups.map((group) => ({ ...group, part: group.total_lag / most })));
      const chosen = columnsFor(answer.groups, beside);
      if (chosen.join("\n") !== beside.join("\n")) partitions.change(partitionColumns(chosen));
      beside = chosen;
      const lags = new Map(answer.groups.map((group) => [group.group, group.lags]));
      partitions.show(
        answer.log_ends.map((end, partition) => ({
          partition,
          end,
          rate: answer.rates[partition],
          lags: beside.map((group) => lags.get(group)?.[partition] ?? null),
        })),
      );
    },
  };
}

function lagBar(group) {
  const bar = h("span", { class: "bar", "aria-hidden": "true" });
  bar.style.width = `${(group.part * 6).toFixed(2)}em`;
  return h(
    "span",
    { class: "barred", title: `${count(group.total_lag)} messages` },
    bar,
    h("span", { class: "number" }, brief(group.total_lag)),
  );
}

// A group keeps its column while it is there; free columns go to the groups that lag most.
function columnsFor(groups, before) {
  const there = new Set(groups.map((group) => group.group));
  const kept = before.filter((group) => there.has(group));
  const others = [...groups]
    .sort((a, b) => b.total_lag - a.total_lag)
    .map((group) => group.group)
    .filter((group) => !kept.includes(group));
  return [...kept, ...others.slice(0, MOST_GROUPS - kept.length)].sort();
}

function partitionColumns(groups) {
  return [
    { label: "Partition", cell: (line) => String(line.partition), value: (line) => line.partition },
    { label: "Log end", cell: (line) => count(line.end), value: (line) => line.end, number: true },
    { label: "Rate", cell: (line) => rate(line.rate), value: (line) => line.rate, number: true },
    ...groups.map((group, at) => ({
      key: `group ${group}`,
      label: named(group),
      cell: (line) => count(line.lags[at]),
      value: (line) => line.lags[at],
      number: true,
    })),
  ];
}
