// The last changes of status, of all groups.

import { h, named, renew, section } from "../lib/dom.js";
import { ago, counted, exactly } from "../lib/format.js";
import { get, serverNow } from "../parts/api.js";
import { exportMenu } from "../parts/exports.js";
import { groupLink } from "../parts/links.js";
import { changed } from "../parts/status.js";
import { plain } from "../parts/tables.js";

const MOST = 100;
const HEADS = ["When", "Change", "Group"];

export function changesView() {
  const note = h("p", { class: "of" });
  const list = h("div", null);
  let answer = { changes: [] };
  const source = () => ({ name: "changes", path: "/v4/changes", parameters: { limit: MOST } });
  const table = () => [
    ["moment", "cluster", "group", "before", "after"],
    ...answer.changes.map((each) => [
      new Date(each.moment_ms).toISOString(),
      ...[each.cluster, each.group, each.before, each.after],
    ]),
  ];
  const title = h("h1", null, "Changes");
  const element = h(
    "article",
    { class: "page" },
    h("div", { class: "tools spread" }, title, exportMenu(source, table)),
    section("The last changes of status", note, list),
  );

  return {
    title: "Changes",
    element,
    async refresh() {
      answer = await get("/v4/changes", { limit: MOST });
      const { changes } = answer;
      note.textContent = answer.watched_ms ? whatIsShown(answer) : "Warren is still reading.";
      const isWide = new Set(changes.map(({ cluster }) => cluster)).size > 1;
      const heads = isWide ? [...HEADS, "Cluster"] : HEADS;
      const lines = changes.map((each) => line(each).slice(0, heads.length));
      renew(list, lines.length ? [plain("Changes", heads, lines, "Group")] : []);
    },
  };
}

function whatIsShown({ changes, watched_ms: since, complete_since_ms: complete }) {
  if (!changes.length) return `No status has changed since ${exactly(since)}, when Warren began.`;
  if (changes.length < MOST && complete === since)
    return `${counted(changes.length, "change")} since ${exactly(since)}, the newest first.`;
  const oldest = exactly(changes.at(-1).moment_ms);
  return `The last ${counted(changes.length, "change")}, back to ${oldest}, the newest first.`;
}

function line({ cluster, group, before, after, moment_ms }) {
  const link = h("a", { href: groupLink(cluster, group) }, named(group));
  const [from, to] = changed(before, after);
  const change = h("span", null, from, " → ", to);
  return [ago(moment_ms, serverNow()), change, link, named(cluster)];
}
