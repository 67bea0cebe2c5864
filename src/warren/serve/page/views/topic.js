// One topic: where its logs end, how fast they grow, and who is how far behind.

import { fact, facts, h, named, renew, section } from "../lib/dom.js";
import { brief, count, counted, duration, rate } from "../lib/format.js";
import { get } from "../parts/api.js";
import { exportMenu } from "../parts/exports.js";
import { groupLink } from "../parts/links.js";
import { behind, lagOf, retentionOf, shown } from "../parts/numbers.js";
import { badge, rank } from "../parts/status.js";
import { sortable } from "../parts/tables.js";

const MOST_GROUPS = 6; // that have a column of their own, unless all are asked for
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
        gives: true,
      },
      {
        label: "Behind by",
        cell: (group) => shown(behind(group)),
        value: (group) => behind(group).value,
        number: true,
      },
      {
        label: "Lag",
        cell: (group) => lagBar(group),
        value: (group) => group.total_lag,
        number: true,
      },
    ],
    { column: 3, down: true },
  );
  let beside = []; // the groups that have a column
  let most = MOST_GROUPS;
  let shownLast = null; // answer
  const which = h("span", { class: "of" });
  const all = h("button", { type: "button", onclick: showAll }, "");
  const source = () => ({ name: topic, path: "/v4/topic", parameters: { cluster, topic } });
  const exporting = exportMenu(source, () => asTable(shownLast));
  const element = h(
    "article",
    { class: "page" },
    h("div", { class: "tools spread" }, head, exporting),
    numbers,
    section("Groups that read it", groups.element),
    section(
      "Partitions, with the lag of its groups",
      h("div", { class: "tools" }, which, all),
      partitions.element,
    ),
  );

  function showAll() {
    most = most === MOST_GROUPS ? Infinity : MOST_GROUPS;
    beside = [];
    drawPartitions(shownLast);
  }

  function drawPartitions(answer) {
    const chosen = columnsFor(answer.groups, beside, most);
    if (chosen.join("\n") !== beside.join("\n")) partitions.change(partitionColumns(chosen));
    beside = chosen;
    const total = answer.groups.length;
    const isSome = chosen.length < total;
    which.textContent = isSome
      ? `The ${chosen.length} that lag most, of ${count(total)}.`
      : counted(total, "group");
    all.hidden = total <= MOST_GROUPS;
    all.textContent = isSome ? `Show all ${count(total)}` : `Show ${MOST_GROUPS}`;
    const byName = new Map(answer.groups.map((group) => [group.group, group]));
    partitions.show(
      answer.log_ends.map((end, partition) => ({
        partition,
        end,
        rate: answer.rates[partition],
        lags: beside.map((group) => byName.get(group)?.lags[partition] ?? null),
        ages: beside.map((group) => byName.get(group)?.ages?.[partition] ?? null),
      })),
    );
  }

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
      renew(head, [trail, h("h1", null, named(topic))]);
      shownLast = answer;
      const known = answer.rates.filter((each) => each !== null);
      renew(numbers, [
        facts(
          fact("Partitions", count(answer.log_ends.length)),
          fact("Written so far", brief(sum(answer.log_ends))),
          fact("Grows", known.length ? rate(sum(known)) : "–"),
          fact("Retention", retention(answer)),
          fact("Groups", count(answer.groups.length)),
        ),
      ]);
      const greatest = Math.max(1, ...answer.groups.map((group) => group.total_lag));
      groups.show(answer.groups.map((group) => ({ ...group, part: group.total_lag / greatest })));
      drawPartitions(answer);
    },
  };
}

function lagBar(group) {
  const { text, title } = lagOf(group.total_lag, group);
  const bar = h("span", { class: "bar", "aria-hidden": "true" });
  bar.style.width = group.part && `max(1px, ${(group.part * 6).toFixed(2)}em)`;
  return h(
    "span",
    { class: "barred", title },
    bar,
    h("span", { class: "number" }, text),
  );
}

// The groups that lag most, by name: a column moves only when others come or go. Of equals those
// stay that have a column.
function columnsFor(groups, before, most) {
  const had = new Set(before);
  const worse = (a, b) =>
    b.total_lag - a.total_lag ||
    had.has(b.group) - had.has(a.group) ||
    (a.group < b.group ? -1 : 1);
  const worst = [...groups].sort(worse).slice(0, most);
  return worst.map(({ group }) => group).sort();
}

function retention({ retention_s: seconds, lacks }) {
  const why = lacks?.length ? `Not known: ${lacks.join("; ")}.` : null;
  return h("span", { title: why }, retentionOf(seconds));
}

const GROUP_HEADS = ["group", "status", "behind_s", "lag", "lost"];

function asTable({ groups }) {
  const line = (each) => [each.group, each.status, each.age.seconds, each.total_lag, each.lost];
  return [GROUP_HEADS, ...groups.map(line)];
}

const ageInWords = (seconds) => (seconds === null ? null : `Behind by ${duration(seconds)}`);

function partitionColumns(groups) {
  return [
    { label: "Partition", cell: (line) => String(line.partition), value: (line) => line.partition },
    { label: "Log end", cell: (line) => count(line.end), value: (line) => line.end, number: true },
    { label: "Rate", cell: (line) => rate(line.rate), value: (line) => line.rate, number: true },
    ...groups.map((group, at) => ({
      key: `group ${group}`,
      label: named(group),
      cell: (line) => h("span", { title: ageInWords(line.ages[at]) }, count(line.lags[at])),
      value: (line) => line.lags[at],
      number: true,
    })),
  ];
}
