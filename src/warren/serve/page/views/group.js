// One group: what it is, why, since when, and where.

import { fact, facts, h, named, renew, section } from "../lib/dom.js";
import { ago, brief, count, percent } from "../lib/format.js";
import { get } from "../parts/api.js";
import { Chart } from "../parts/chart.js";
import { beginning, gridOf, linesOf } from "../parts/grid.js";
import { Heat } from "../parts/heat.js";
import { GroupHistory } from "../parts/history.js";
import { topicLink } from "../parts/links.js";
import { memberTable, partitionTable } from "../parts/partitions.js";
import { badge, rank } from "../parts/status.js";

const MOST_NAMES = 8; // of partitions with the same reason
const SERIES = [
  { label: "all partitions", colour: "accent", fill: "accent-fill" },
  { label: "worst partition", colour: "second", dash: [5, 4] },
];

export function groupView({ names: [cluster, group], query }) {
  const where = { cluster, group };
  const head = h("header", { class: "title" });
  const numbers = h("div", null);
  const why = h("div", null);
  const chart = new Chart(SERIES, "Lag over time");
  const heat = new Heat("Lag of each partition over time");
  const past = new GroupHistory(where, query, () => draw());
  const partitions = partitionTable(cluster);
  const members = h("div", null);
  const element = h(
    "article",
    { class: "page" },
    head,
    numbers,
    why,
    section("Lag over time", past.picker, chart.element),
    section("Partitions over time", heat.element),
    section("Partitions", partitions.element),
    h("div", { class: "pair" }, section("Members", members), past.incidents),
  );
  const seen = new Map();
  let live = null;

  function drawHead({ summary, board, generation }) {
    const trail = h(
      "p",
      { class: "trail" },
      h("a", { href: "#/" }, "Groups"),
      " / ",
      h("a", { href: `#/?${new URLSearchParams({ cluster })}` }, named(cluster)),
    );
    renew(head, [h("div", null, trail, h("h1", null, named(group))), badge(summary.status)]);
    const lag = h(
      "span",
      { title: `${count(summary.total_lag)} messages` },
      brief(summary.total_lag),
    );
    renew(numbers, [
      facts(
        fact("Lag", lag),
        fact("Partitions", count(summary.partition_count)),
        fact("Windows complete", percent(summary.complete)),
        fact("Last commit", ago(summary.last_commit_ms, board.moment_ms)),
        fact("Generation", count(generation)),
      ),
    ]);
  }

  // Draws the windows as they are now, or a period of history.
  async function draw() {
    const kept = past.shown;
    if (kept) {
      heat.show(kept.grid);
      await chart.show(kept.answer.times_ms, [kept.answer.lag, kept.answer.max_lag]);
    } else if (live) {
      heat.show(live);
      await chart.show(live.times, [live.total, live.worst]);
    }
  }

  return {
    title: group,
    element,
    async refresh() {
      const [answer, windows, reasons] = await Promise.all([
        get("/v4/group", where),
        get("/v4/windows", where),
        get("/v4/explain", { ...where, all: true }),
      ]);
      if (answer.partitions.length !== windows.partitions.length) return; // of two boards
      live = gridOf(
        linesOf(windows, answer.partitions, seen),
        beginning(windows, seen),
        windows.now_ms,
      );
      drawHead(answer);
      renew(why, [verdict(reasons, cluster)]);
      partitions.show(answer);
      renew(members, [memberTable(answer.members)]);
      if (!past.shown) await draw(); // the past has not changed
      past.look(answer.summary.status);
    },
    onChange: (change) => past.addChange(change),
    redraw() {
      chart.redraw();
      heat.redraw();
    },
    close() {
      chart.close();
      heat.close();
      past.close();
    },
  };
}

// The verdict in words, and what would change it.
function verdict({ status, why, change, reasons }, cluster) {
  const lines = alike(reasons).map((some) => reasonLine(some, cluster));
  return h(
    "section",
    { class: `card verdict ${status.toLowerCase()}` },
    h("h2", null, "Why, and what would change it"),
    h("p", { class: "why" }, why, " ", h("span", { class: "change" }, change)),
    lines.length ? h("ul", { class: "reasons" }, ...lines) : null,
  );
}

// Grouped by rule, the worst state first; within a rule the partition with the greatest lag first.
function alike(reasons) {
  const lag = (reason) => reason.numbers.current_lag ?? 0;
  const groups = new Map();
  const worse = (a, b) => rank(b.status) - rank(a.status) || lag(b) - lag(a);
  for (const reason of [...reasons].sort(worse))
    groups.set(reason.rule, [...(groups.get(reason.rule) ?? []), reason]);
  return [...groups.values()];
}

const nameOf = ({ topic, partition }) => `${topic}:${partition}`;

function reasonLine([worst, ...others], cluster) {
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
