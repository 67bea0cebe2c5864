// The health of Warren itself.

import { fact, facts, h, named, renew, section } from "../lib/dom.js";
import { ago, brief, count, counted, duration } from "../lib/format.js";
import { get, serverNow } from "../parts/api.js";
import { sentence, services } from "../parts/services.js";
import { plain } from "../parts/tables.js";

// Services that a configuration may leave out.
const OPTIONAL = ["snapshots", "history", "sinks", "notifiers"];
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
  const since = health.problems_since_ms ?? {};
  return [
    ...(health.starting ? [h("p", { class: "notice", role: "status" }, health.starting)] : []),
    facts(
      fact("State", health.ready ? "ready" : health.spark === "starting" ? "starting" : "reading"),
      fact("Reading is behind by", behindBy(health.consumers ?? {})),
      fact("Last judged", ago(health.moment_ms, serverNow())),
      fact(
        "Judging takes",
        health.tick_seconds === undefined ? "–" : `${Math.round(health.tick_seconds * 1000)} ms`,
      ),
      fact("Skipped records", count(skipped(health))),
    ),
    section(
      "What Warren does",
      h("ul", { class: "services" }, ...services(health).map((each) => sentence(each, since))),
      h("p", { class: "of" }, notConfigured(health)),
    ),
    section("Clusters", clusters(health.clusters ?? {})),
    section("Offsets topics", consumers(health.consumers ?? {})),
  ];
}

// How far the slowest consumer is behind.
function behindBy(all) {
  const known = Object.values(all).map((each) => each.behind_s).filter(Number.isFinite);
  return known.length ? duration(Math.max(...known)) : "–";
}

function notConfigured(health) {
  const missing = OPTIONAL.filter((kind) => !health[kind]);
  return missing.length ? `Not configured: ${missing.join(", ")}.` : "";
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
      h("span", { class: "of" }, counted(rows.length, "setting")),
    ),
    plain(`Settings of ${name}`, ["Key", "Value"], rows),
  );
}
