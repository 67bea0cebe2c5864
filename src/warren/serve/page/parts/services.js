// What Warren does beside judging, in sentences: reading, snapshots, history, sinks, notifiers.

import { h, named } from "../lib/dom.js";
import { count, counted, duration, exactly } from "../lib/format.js";
import { serverNow } from "./api.js";

const isNumber = Number.isFinite;
const ago = (ms) => `${duration((serverNow() - ms) / 1000)} ago`;
const before = (text, ms) => (isNumber(ms) ? `${text} ${ago(ms)}` : "");

// Each has { key, name, parts, problem }: a name, what it has done, what is wrong with it now.
export function services(health) {
  return [
    ...each("consumers", health, "Reads", reading),
    ...each("snapshots", health, "Snapshots of", saved),
    ...single("history.keeper", health.history?.keeper, "History", keeping),
    ...single("history.upkeep", health.history?.upkeep, "Upkeep of history", upkeep),
    ...single("history.recent", health.history?.recent, "History in memory", remembered),
    ...each("sinks", health, "Sink", delivering),
    ...each("notifiers", health, "Notifier", notifying),
    ...single("incidents.rounds", health.incidents?.rounds, "Incidents", judging),
  ];
}

const each = (kind, health, label, tell) =>
  Object.entries(health[kind] ?? {}).map(([name, facts]) => ({
    key: `${kind}.${name}`,
    name: [`${label} `, named(name)],
    parts: tell(facts),
    problem: facts.problem,
  }));

const single = (key, facts, label, tell) =>
  facts ? [{ key, name: [label], parts: tell(facts), problem: facts.problem }] : [];

function reading({ state, behind_s, read_age_s, remaining, held_back, unanswered }) {
  const some = (label, numbers) => (numbers?.length ? `${label}: ${numbers.join(", ")}` : "");
  return [
    state,
    isNumber(behind_s) ? `${duration(behind_s)} behind` : "",
    isNumber(read_age_s) ? `the last records came ${duration(read_age_s)} ago` : "",
    remaining ? `${counted(remaining, "record")} to read` : "",
    some("partitions held back by a transaction", held_back),
    some("partitions without an answer", unanswered),
  ];
}

const saved = ({ saved_s }) => {
  const times = Object.entries(saved_s ?? {});
  if (!times.length) return ["nothing is saved yet"];
  return times.map(([cluster, seconds]) => `${cluster} saved ${ago(seconds * 1000)}`);
};

const outcomes = (all) =>
  Object.entries(all ?? {})
    .filter(([, number]) => number)
    .map(([word, number]) => `${count(number)} ${word}`);

const keeping = ({ state, last_moment_ms, last_rows }) => [
  state,
  before("last written", last_moment_ms),
  isNumber(last_rows) ? `with ${counted(last_rows, "row")}` : "",
];

const upkeep = ({ state, merged_ms, expired_ms }) => [
  state,
  before("files merged", merged_ms),
  before("old rows removed", expired_ms),
];

const remembered = ({ moments, memory_mb, oldest_ms: oldest }) => [
  counted(moments, "moment") + (isNumber(oldest) ? ` since ${exactly(oldest)}` : ""),
  memory_mb < 0.1 ? "less than 0.1 MB" : `${memory_mb.toFixed(1)} MB`,
];

const delivering = ({ class: kind, state, delivered_ms, behind_s, outcomes: all, rejected }) => [
  kind,
  state,
  before("last delivered", delivered_ms),
  isNumber(behind_s) ? `${duration(behind_s)} behind` : "",
  ...outcomes(all),
  ...Object.entries(rejected ?? {}).map(([why, number]) => `${count(number)} rejected: ${why}`),
];

const notifying = ({ state, queued, outcomes: all }) => [
  state,
  queued ? `${counted(queued, "message")} wait` : "",
  ...outcomes(all),
];

const judging = ({ leads, open, silent, silent_consumers }) => [
  leads ? "this instance notifies" : "another instance notifies",
  `${open} open`,
  silent?.length ? `cannot judge ${silent.join(", ")}` : "",
  silent_consumers?.length ? `cannot read ${silent_consumers.join(", ")}` : "",
];

export function sentence({ key, name, parts, problem }, since) {
  const told = parts.filter(Boolean).join(", ");
  const began = since[key];
  const when = began ? ` since ${exactly(began)} (${duration((serverNow() - began) / 1000)})` : "";
  return h(
    "li",
    { class: problem ? "service bad" : "service" },
    h("strong", null, ...name),
    told ? `: ${told}.` : problem ? "." : ": nothing yet.",
    problem ? h("span", { class: "problem" }, ` Fails${when}: ${problem}`) : null,
  );
}
