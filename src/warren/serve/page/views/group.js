// One group: what it is, why, since when, and where.

import { fact, facts, h, named, renew, section } from "../lib/dom.js";
import { ago, count, growth, growthInWords, iso } from "../lib/format.js";
import { get } from "../parts/api.js";
import { Chart } from "../parts/chart.js";
import { exportMenu } from "../parts/exports.js";
import { beginning, gridOf, linesOf } from "../parts/grid.js";
import { Heat } from "../parts/heat.js";
import { GroupHistory } from "../parts/history.js";
import { dashboardLink, topicLink } from "../parts/links.js";
import { alarms, behind, catchUp, lagOf, shown } from "../parts/numbers.js";
import { memberTable, partitionTable } from "../parts/partitions.js";
import { lagGrowth, projection } from "../parts/projection.js";
import { queryCards } from "../parts/query.js";
import { Silences } from "../parts/silences.js";
import { badge, rank } from "../parts/status.js";
import { statusSince, Timeline } from "../parts/timeline.js";

const MOST_NAMES = 8; // of partitions with the same reason
const TRIES = 3; // to get all answers from one board
const DAY_MS = 86_400_000;
const SERIES = [
  { label: "all partitions", colour: "accent", fill: "accent-fill" },
  { label: "worst partition", colour: "second", dash: [5, 4] },
];

export function groupView({ names: [cluster, group], query }) {
  const where = { cluster, group };
  const head = h("header", { class: "title" });
  const numbers = h("div", null);
  const alarm = h("div", { class: "alarms", role: "status" });
  const why = h("div", null);
  const chart = new Chart(SERIES, "Lag over time");
  const heat = new Heat("Lag of each partition over time");
  const past = new GroupHistory(where, query, () => {
    if (answers.group) drawHead(answers.group); // since when, if history knows it better
    draw();
  });
  const partitions = partitionTable(cluster);
  const members = h("div", null);
  const timeline = new Timeline();
  const silences = new Silences(where);
  const dashboard = h(
    "a",
    { target: "_blank", rel: "noopener", hidden: !document.body.dataset.grafana },
    "Open in Grafana",
  );
  const overTime = h("div", null, chart.element, timeline.strip);
  const partitionsOverTime = section("Partitions over time", heat.element);
  const source = () => ({ name: group, path: "/v4/group", parameters: where });
  const actions = h(
    "div",
    { class: "actions" },
    ...silences.buttons,
    dashboard,
    exportMenu(source, () => asTable(answers.group)),
  );
  const element = h(
    "article",
    { class: "page" },
    h("div", { class: "tools spread" }, head, actions),
    silences.element,
    alarm,
    numbers,
    why,
    section("Lag over time", past.picker, overTime),
    partitionsOverTime,
    section("Partitions", partitions.element),
    h("div", { class: "pair" }, section("Members", members), timeline.element, past.incidents),
  );
  const seen = new Map();
  let live = null;
  let answers = { group: null };
  let measured = {}; // the numbers of the group as a whole

  function drawHead(answer) {
    const { summary, board } = answer;
    const trail = h(
      "p",
      { class: "trail" },
      h("a", { href: "#/" }, "Groups"),
      " / ",
      h("a", { href: `#/?${new URLSearchParams({ cluster })}` }, named(cluster)),
    );
    const title = h("div", { class: "headline" }, h("h1", null, named(group)), badge(summary.status));
    renew(head, [trail, title]);
    renew(
      alarm,
      alarms(summary).map(({ text }) => h("p", { class: "alarm" }, text)),
    );
    renew(numbers, [
      facts(
        fact(`${summary.status} for`, shown(statusSince(answer, past.openIncident))),
        fact("Behind by", shown(behind(summary))),
        fact("Lag", shown(lagOf(summary.total_lag, summary)), " ", lagGrows(summary)),
        fact("Catches up in", shown(catchUp(summary))),
        fact("Last commit", ago(summary.last_commit_ms, board.moment_ms)),
        fact("Members", count(answer.members.length)),
      ),
    ]);
  }

  // Draws the windows as they are now, or a period of history. What is there stays until history is
  // answered.
  async function draw() {
    overTime.hidden = partitionsOverTime.hidden = past.isEmpty;
    if (past.isEmpty || past.isAwaited || !live) return;
    const kept = past.shown;
    if (!kept) {
      await drawLines(live, { ...live, lag: live.total }, true);
      drawTimeline(live.times.at(-1), null);
      return;
    }
    const lines = withNow(kept.answer, past.isNow ? live : null);
    await drawLines(kept.grid, lines, past.isNow);
    drawTimeline(past.isNow ? lines.times.at(-1) : kept.answer.until_ms, kept.answer);
  }

  async function drawLines(grid, { times, lag, worst }, isNow) {
    const ahead = isNow ? projection(times, lag, measured) : null;
    heat.show(grid, [times[0], (ahead?.times ?? times).at(-1)]);
    await chart.show(times, [lag, worst], ahead, heat.left);
  }

  function drawTimeline(now, kept) {
    const [from, to] = chart.span;
    timeline.strip.style.marginLeft = `${heat.left}px`;
    timeline.draw([from, to], now, kept);
    const period = kept ? { From: from, To: to } : { From: now - DAY_MS, To: now };
    dashboard.href = dashboardLink({ Cluster: cluster, Group: group, ...period });
  }

  // All answers are of one board: numbers beside each other must agree.
  async function ask() {
    for (let left = TRIES; ; left -= 1) {
      const [answer, windows, reasons, changes] = await Promise.all([
        get("/v4/group", where),
        get("/v4/windows", where),
        get("/v4/explain", { ...where, all: true }),
        get("/v4/changes", { ...where, limit: 500 }),
      ]);
      const agrees = ({ board }) => board.moment_ms === answer.board.moment_ms;
      const isOne = agrees(windows) && answer.partitions.length === windows.partitions.length;
      if (isOne && (left <= 1 || (agrees(reasons) && agrees(changes))))
        return { group: answer, windows, reasons, changes };
      if (left <= 1) return null;
    }
  }

  return {
    title: group,
    element,
    async refresh() {
      const found = await ask();
      if (!found) return; // the next board is about to come
      answers = found;
      const { group: answer, windows, reasons, changes } = found;
      live = gridOf(
        linesOf(windows, answer.partitions, seen),
        beginning(windows, seen),
        windows.now_ms,
      );
      measured = answer.summary;
      drawHead(answer);
      timeline.know(changes, answer);
      renew(why, [verdict(reasons, answer.summary, cluster), ...queryCards(answer)]);
      partitions.show(answer);
      renew(members, [memberTable(answer.members)]);
      await draw();
      past.look(answer.summary.status);
      silences.look();
    },
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

function lagGrows(summary) {
  const growing = lagGrowth(summary.total_lag, summary);
  if (growing === null) return "";
  return h("span", { class: "of", title: growthInWords(growing) }, growth(growing));
}

// A history that ends now ends with what is known now, which may be a little older.
function withNow({ times_ms: times, lag, max_lag: worst }, live) {
  const now = live?.times.at(-1);
  if (!(now > times[0])) return { times, lag, worst };
  const count = times.filter((ms) => ms < now).length;
  const until = (values, last) => [...values.slice(0, count), last];
  return {
    times: until(times, now),
    lag: until(lag, live.total.at(-1)),
    worst: until(worst, live.worst.at(-1)),
  };
}

const PARTITION_HEADS = [
  ...["topic", "partition", "status", "rule", "behind_s", "lag", "lag_grows_per_s"],
  ...["reads_per_s", "end_offset", "last_commit", "owner", "client_id"],
];

function asTable({ partitions }) {
  const line = (each) => [
    ...[each.topic, each.partition, each.status, each.rule, each.age.seconds, each.current_lag],
    ...[each.lag_trend, each.commit_rate, each.end?.offset],
    ...[each.end ? iso(each.end.committed_ms) : null, each.owner, each.client_id],
  ];
  return [PARTITION_HEADS, ...partitions.map(line)];
}

// The verdict in words, and what would change it.
function verdict({ status, why, change, reasons, second_opinion: other }, summary, cluster) {
  const lines = alike(reasons).map((some) => reasonLine(some, cluster));
  return h(
    "section",
    { class: `card verdict ${status.toLowerCase()}` },
    h("h2", null, "Why, and what would change it"),
    h("p", { class: "why" }, why, " ", h("span", { class: "change" }, change)),
    ...(other ? [opinions(summary), h("p", { class: "second-opinion" }, other)] : []),
    lines.length ? h("ul", { class: "reasons" }, ...lines) : null,
  );
}

// What both evaluators say; the one that decides comes first.
function opinions({ status, judgement }) {
  if (!judgement) return null;
  const names = { warren: "Warren’s evaluator", caching: "Burrow’s rules" };
  const { evaluator, other } = judgement;
  const second = evaluator === "warren" ? "caching" : "warren";
  return h(
    "p",
    { class: "opinions" },
    ...[names[evaluator], " ", badge(status), " · ", names[second], " ", badge(other)],
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
      worst.change ? h("p", { class: "change" }, worst.change) : null,
      worst.rhythm ? h("p", { class: "rhythm" }, worst.rhythm) : null,
      others.length ? h("p", { class: "of" }, ...likewise(others)) : null,
    ),
  );
}

function likewise(others) {
  const names = others.slice(0, MOST_NAMES).flatMap((reason) => [" ", named(nameOf(reason))]);
  const rest = others.length - MOST_NAMES;
  return ["Likewise:", ...names, rest > 0 ? ` and ${rest} more` : ""];
}
