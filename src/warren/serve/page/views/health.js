// The health of Warren itself.

import { fact, facts, h, named, renew, section } from "../lib/dom.js";
import { ago, brief, count, duration } from "../lib/format.js";
import { get, serverNow } from "../parts/api.js";
import { plain } from "../parts/tables.js";

const SHOWN_ELSEWHERE = new Set([
  ...["moment_ms", "board", "ready", "starting", "spark"],
  ...["tick_seconds", "clusters", "consumers"],
]);
const LABELS = { notifiers: "Notifiers", sinks: "Sinks", history: "History" };
const sum = (numbers) => Object.values(numbers ?? {}).reduce((total, number) => total + number, 0);

export function healthView() {
  const live = h("div", { class: "stacked" });
  const settings = h("div", { class: "settings" });
  const element = h(
    "article",
    { class: "page" },
    h("h1", { class: "unseen" }, "Health"),
    live,
    section(
      "Configuration",
      h("p", { class: "of" }, "As it is in effect, secrets masked."),
      settings,
    ),
  );

  return {
    title: "Health",
    element,
    async refresh() {
      const health = await get("/v4/health");
      renew(live, parts(health));
      if (!settings.hasChildNodes())
        settings.replaceChildren(...Object.entries(await get("/v4/config")).map(configSection));
    },
  };
}

function parts(health) {
  const companions = Object.keys(health).filter((kind) => !SHOWN_ELSEWHERE.has(kind));
  for (const kind of Object.keys(LABELS)) if (!companions.includes(kind)) companions.push(kind);
  return [
    ...(health.starting ? [h("p", { class: "notice", role: "status" }, health.starting)] : []),
    facts(
      fact("State", health.ready ? "ready" : health.spark === "starting" ? "starting" : "reading"),
      fact("Board", ago(health.moment_ms, serverNow())),
      fact(
        "Tick",
        health.tick_seconds === undefined ? "–" : `${Math.round(health.tick_seconds * 1000)} ms`,
      ),
      fact("Skipped records", count(skipped(health))),
    ),
    section("Clusters", clusters(health.clusters ?? {})),
    section("Offsets topics", consumers(health.consumers ?? {})),
    ...companions.map((kind) => section(LABELS[kind] ?? kind, companion(health[kind]))),
  ];
}

const skipped = (health) =>
  Object.values(health.consumers ?? {}).reduce((total, each) => total + sum(each.skipped), 0);
const problem = (text) => (text ? h("span", { class: "problem" }, text) : "none");

const silence = (brokers) =>
  brokers.length ? `no answer from broker${brokers.length > 1 ? "s" : ""} ${brokers.join(", ")}` : "";

function clusters(all) {
  const rows = Object.entries(all).map(([name, each]) => [
    named(name),
    each.data_age_s === null || each.data_age_s === undefined ? "–" : duration(each.data_age_s),
    count(each.leaderless),
    count(each.without_log_end),
    count(each.waiting_for_log_end),
    count(sum(each.dropped)),
    count(each.restarts),
    problem(each.problem || silence(each.silent_brokers ?? [])),
  ]);
  return rows.length
    ? plain(
        "Clusters",
        [
          "Cluster",
          "Age of log ends",
          "Without leader",
          "Without log end",
          "Commits waiting",
          "Dropped",
          "Restarts",
          "Problem",
        ],
        rows,
      )
    : none();
}

function consumers(all) {
  const rows = Object.entries(all).map(([name, each]) => {
    const left = each.seconds_left ? `, about ${duration(each.seconds_left)}` : "";
    return [
      named(name),
      each.state ?? "–",
      duration(each.behind_s),
      duration(each.read_age_s),
      duration(each.end_age_s),
      h("span", { title: positions(each.positions) }, brief(sum(each.positions))),
      `${count(each.remaining)}${left}`,
      `${brief(each.rate ?? 0)}/s`,
      brief(each.records ?? 0),
      reasons(each.skipped),
      count(each.restarts),
      problem(troubles(each).join("; ")),
    ];
  });
  return rows.length
    ? plain(
        "Offsets topics",
        [
          "Consumer",
          "State",
          "Behind by",
          "Last read",
          "End asked",
          "Position",
          "To read",
          "Reads",
          "Records",
          "Skipped",
          "Restarts",
          "Problem",
        ],
        rows,
      )
    : none();
}

// Partitions that a hanging transaction holds back, or whose leader does not answer.
function troubles(consumer) {
  const some = (label, numbers) => (numbers?.length ? [`${label}: ${numbers.join(", ")}`] : []);
  return [
    ...(consumer.problem ? [consumer.problem] : []),
    ...some("held back", consumer.held_back),
    ...some("no answer", consumer.unanswered),
  ];
}

const positions = (all) =>
  Object.entries(all ?? {})
    .slice(0, 60)
    .map(([partition, at]) => `${partition}: ${at}`)
    .join(", ");
const reasons = (all) =>
  Object.entries(all ?? {})
    .map(([reason, number]) => `${count(number)} ${reason}`)
    .join(", ") || "0";

// Notifiers, sinks and history: each reports its own facts.
function companion(all) {
  const entries = Object.entries(all ?? {});
  if (!entries.length) return h("p", { class: "of" }, "None is configured.");
  const names = [...new Set(entries.flatMap(([, each]) => Object.keys(each)))].filter(
    (name) => name !== "problem",
  );
  const rows = entries.map(([name, each]) => [
    named(name),
    ...names.map((key) => inWords(key, each[key])),
    problem(each.problem),
  ]);
  return plain("Companions", ["Name", ...names.map(heading), "Problem"], rows);
}

const heading = (key) =>
  (key[0].toUpperCase() + key.slice(1)).replaceAll("_", " ").replace(/ (ms|s)$/, "");

function inWords(key, value) {
  if (value === null || value === undefined || value === "") return "–";
  if (key.endsWith("_ms") && typeof value === "number") return ago(value, serverNow());
  if (key.endsWith("_s") && typeof value === "number") return duration(value);
  if (typeof value === "number") return count(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((each) => inWords("", each)).join(", ") || "–";
  if (typeof value === "object")
    return (
      Object.entries(value)
        .map(([name, each]) => `${name} ${typeof each === "object" ? JSON.stringify(each) : each}`)
        .join(", ") || "–"
    );
  return String(value);
}

const none = () => h("p", { class: "of" }, "None.");

function configSection([name, keys]) {
  const rows = Object.entries(keys).map(([key, value]) => [
    h("code", null, key),
    h("code", null, value),
  ]);
  return h(
    "details",
    null,
    h(
      "summary",
      null,
      h("code", null, `[${name}]`),
      h("span", { class: "of" }, `${rows.length} settings`),
    ),
    plain(`Settings of ${name}`, ["Key", "Value"], rows),
  );
}
