// One group: what it is, why, since when, and where.

import { badge, fact, facts, h, named, renew, section } from "../lib/dom.js";
import { ago, brief, count, percent } from "../lib/format.js";
import { get } from "../parts/api.js";
import { Chart } from "../parts/chart.js";
import { beginning, gridOf, linesOf } from "../parts/grid.js";
import { Heat } from "../parts/heat.js";
import { GroupHistory } from "../parts/history.js";
import { memberTable, partitionTable } from "../parts/partitions.js";
import { verdict } from "../parts/verdict.js";

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

  // What is charted: the windows as they are now, or a time that history has kept.
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
      if (!past.shown) await draw(); // of the past nothing has changed
      past.look(answer.summary.status);
    },
    told: (change) => past.tell(change),
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
