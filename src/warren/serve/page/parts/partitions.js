// The partitions and the members of a group as tables.

import { h, named } from "../lib/dom.js";
import { count, duration, exactly, growth, iso, percent, rate } from "../lib/format.js";
import { topicLink } from "./links.js";
import { behind, lagOf, shown } from "./numbers.js";
import { badge, rank } from "./status.js";
import { plain, sortable } from "./tables.js";

export function partitionTable(cluster) {
  let nowMs = 0;
  const text = (value) => (value ? named(value) : "–");
  const offset = (commit) =>
    commit ? h("span", { title: exactly(commit.committed_ms) }, count(commit.offset)) : "–";
  const since = (line) =>
    line.end
      ? h(
          "time",
          {
            datetime: iso(line.end.committed_ms),
            title: exactly(line.end.committed_ms),
          },
          duration((nowMs - line.end.committed_ms) / 1000),
        )
      : "never";
  const columns = [
    {
      label: "Status",
      cell: (line) => badge(line.status),
      value: (line) => rank(line.status),
      number: false,
    },
    {
      label: "Topic",
      cell: (line) => h("a", { href: topicLink(cluster, line.topic) }, named(line.topic)),
      value: (line) => line.topic,
    },
    { label: "Partition", cell: (line) => String(line.partition), value: (line) => line.partition },
    {
      label: "Behind by",
      cell: (line) => shown(behind(line)),
      value: (line) => behind(line).value,
      number: true,
    },
    {
      label: "Lag",
      cell: (line) => shown(lagOf(line.current_lag, line)),
      value: (line) => line.current_lag,
      number: true,
    },
    {
      label: "Lag grows",
      cell: (line) => growth(line.lag_trend),
      value: (line) => line.lag_trend,
      number: true,
    },
    {
      label: "Reads",
      cell: (line) => rate(line.commit_rate),
      value: (line) => line.commit_rate,
      number: true,
    },
    {
      label: "Start",
      cell: (line) => offset(line.start),
      value: (line) => line.start?.offset,
      number: true,
    },
    {
      label: "End",
      cell: (line) => offset(line.end),
      value: (line) => line.end?.offset,
      number: true,
    },
    { label: "Last commit", cell: since, value: (line) => line.end?.committed_ms, number: true },
    {
      label: "Complete",
      cell: (line) => percent(line.complete),
      value: (line) => line.complete,
      number: true,
    },
    { label: "Owner", cell: (line) => text(line.owner), value: (line) => line.owner },
    { label: "Client id", cell: (line) => text(line.client_id), value: (line) => line.client_id },
  ];
  const table = sortable("Partitions", columns, { column: 0, down: true });
  return {
    element: table.element,
    show({ partitions, board }) {
      nowMs = board.moment_ms;
      table.show(partitions);
    },
  };
}

export function memberTable(members) {
  if (!members.length) return h("p", { class: "of" }, "It has no members now.");
  const rows = members.map((member) => [
    named(member.owner || "–"),
    named(member.client_id || "–"),
    count(member.partitions),
  ]);
  return plain("Members", ["Owner", "Client id", "Partitions"], rows);
}
