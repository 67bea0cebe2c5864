// All groups, the worst first.

import { h, renew } from "../lib/dom.js";
import { count, iso } from "../lib/format.js";
import { get } from "../parts/api.js";
import { columnMenu, columnsFor, layOut } from "../parts/columns.js";
import { asObjects, exportMenu } from "../parts/exports.js";
import { cellClass, fillRow, makeRow } from "../parts/group_row.js";
import { chosen, clusterCards, isStatus, ORDER_NAMES, orderOf, rowsOf } from "../parts/groups.js";
import { asQuery, groupLink } from "../parts/links.js";
import { List } from "../parts/list.js";
import { Silenced } from "../parts/silences.js";
import { badge } from "../parts/status.js";

const STATUSES = ["ERR", "WARN", "OK"];
const MOST_ON_A_PAGE = 10_000; // of /v4/groups
const KEYS = [
  ["/", "search"],
  ["↑ ↓", "move"],
  ["Enter", "open"],
  ["Esc", "clear"],
];

const keyOf = (item) => item.key;
let left = null; // where the list stood when another view was opened

export function overviewView({ query }) {
  const filter = {
    text: query.get("q") ?? "",
    status: (query.get("status") ?? "").toUpperCase(),
    cluster: query.get("cluster") ?? "",
    sort: query.get("sort") ?? "trouble",
    columns: (query.get("columns") ?? "").split(",").filter(Boolean),
  };
  const silenced = new Silenced();
  const state = { answer: null, rows: [], isWide: false, columns: [], silenced };
  let isOpen = true;

  const search = h("input", {
    type: "search",
    placeholder: "Group, topic or owner",
    "aria-label": "Search groups",
    "aria-keyshortcuts": "/",
    value: filter.text,
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => change({ text: search.value }),
  });
  const filters = h("div", { class: "filters", role: "group", "aria-label": "Only with status" });
  // Replaces the column heads where there is no room for them.
  const order = h(
    "select",
    { class: "order", "aria-label": "Order", onchange: () => change({ sort: order.value }) },
    ...Object.entries(ORDER_NAMES).map(([sort, text]) => h("option", { value: sort }, text)),
  );
  const total = h("p", { class: "total", role: "status" });
  const cards = h("div", { class: "clusters" });
  const header = h("div", { role: "row", class: "row header", "aria-rowindex": 1 });
  const list = new List({
    header,
    label: "Consumer groups",
    make: makeRow,
    fill: (row, item) => fillRow(row, item, state),
    open: (item) => (location.hash = groupLink(item.cluster, item.group)),
  });
  const starting = h("span", null);
  const notice = h(
    "p",
    { class: "notice", hidden: true, role: "status" },
    starting,
    " What is shown is not complete. ",
    h("a", { href: "#/health" }, "How far it is"),
  );
  const columns = columnMenu((names) => change({ columns: names }));
  const shownNow = () => chosen(state.rows, filter).shown;
  const source = () => {
    return { name: "groups", path: "/v4/groups", parameters: asked(filter, shownNow().length) };
  };
  const shownTable = () => asTable(shownNow());
  const exporting = exportMenu(source, shownTable, () => asObjects(shownTable()));
  const tools = h("div", { class: "tools" }, search, filters, order, total, columns.element, exporting);
  const empty = h("div", { class: "empty", role: "status", hidden: true });
  const hints = h("p", { class: "hints" }, ...KEYS.map(hint));
  const element = h(
    "div",
    { class: "overview" },
    h("h1", { class: "unseen" }, "Consumer groups"),
    notice,
    cards,
    tools,
    empty,
    list.element,
    hints,
  );

  function change(some) {
    Object.assign(filter, some);
    const { text: q, status, cluster } = filter;
    const sort = filter.sort === "trouble" ? "" : filter.sort;
    const named = filter.columns.join(",");
    history.replaceState(null, "", `#/${asQuery({ q, status, cluster, sort, columns: named })}`);
    list.element.scrollTop = 0;
    draw();
  }

  // Choosing the same cluster again clears the choice.
  const chooseCluster = (name) => change({ cluster: filter.cluster === name ? "" : name });

  // Clicking the same head again reverses the order.
  const sortBy = (order) => change({ sort: filter.sort === order ? `-${order}` : order });

  function drawFilters(counts) {
    const button = (status, label, number) =>
      h(
        "button",
        {
          type: "button",
          class: "filter",
          "aria-pressed": String(filter.status === status),
          onclick: () => change({ status: filter.status === status ? "" : status }),
        },
        label,
        h("span", { class: "number" }, count(number)),
      );
    const all = STATUSES.reduce((sum, status) => sum + counts[status], 0);
    const buttons = [
      button("", "All", all),
      ...STATUSES.map((status) => button(status, badge(status), counts[status])),
    ];
    renew(filters, buttons);
  }

  const clear = () => change({ text: (search.value = ""), status: "", cluster: "" });

  function drawEmpty(shown) {
    empty.hidden = shown.length > 0 || !state.answer;
    list.element.hidden = !empty.hidden;
    if (empty.hidden) return;
    const way = h("button", { type: "button", onclick: clear }, "Show all groups");
    renew(empty, [h("p", null, whyEmpty(state.answer, filter)), ...(state.rows.length ? [way] : [])]);
  }

  function arrange() {
    state.columns = columnsFor(filter.columns, element.clientWidth || innerWidth);
    layOut(list.element, state.columns);
    columns.mark(state.columns);
    const cells = state.columns.map((column) => headCell(column, filter.sort, sortBy));
    renew(header, cells);
  }

  function draw() {
    const { shown, counts } = chosen(state.rows, filter);
    arrange();
    order.value = filter.sort;
    drawFilters(counts);
    renew(cards, clusterCards(state.answer, filter.cluster, chooseCluster));
    total.textContent =
      shown.length === state.rows.length
        ? ""
        : `${count(shown.length)} of ${count(state.rows.length)}`;
    drawEmpty(shown);
    list.show(shown, keyOf);
  }
  addEventListener("resize", arrange);

  function goBack() {
    if (!left || !isOpen) return;
    list.select(left.item, keyOf);
    list.element.scrollTop = left.top;
    left = null;
  }

  return {
    title: "Groups",
    element,
    async refresh() {
      const [answer] = await Promise.all([get("/v4/overview"), silenced.look()]);
      if (!isOpen) return; // an answer for a list that was left does not touch where it stood
      state.answer = answer;
      state.nowMs = state.answer.board.moment_ms;
      state.rows = rowsOf(state.answer);
      state.isWide = state.answer.clusters.length > 1;
      notice.hidden = state.answer.ready;
      if (starting.textContent !== state.answer.starting)
        starting.textContent = state.answer.starting;
      draw();
      if (left) requestAnimationFrame(goBack);
    },
    key(event, isTyping) {
      if (event.key === "Escape") {
        clear();
        search.blur();
      } else if (event.target === search || !isTyping) {
        const isOther = event.target.closest?.("button, a");
        if (!isOther || event.key !== "Enter") list.key(event);
      }
    },
    close() {
      isOpen = false;
      left = { top: list.element.scrollTop, item: list.items[list.selected] };
      list.close();
      removeEventListener("resize", arrange);
    },
  };
}

const hint = ([keys, meaning]) =>
  h("span", null, ...keys.split(" ").map((key) => h("kbd", null, key)), ` ${meaning}  `);

function headCell(column, sort, sortBy) {
  const { order, label } = column;
  const isSorted = order && sort.replace("-", "") === order;
  const direction = isSorted ? orderOf(sort).direction : null;
  const content = order
    ? h("button", { type: "button", onclick: () => sortBy(order) }, label)
    : h("span", null, label);
  return h("div", { role: "columnheader", class: cellClass(column), "aria-sort": direction }, content);
}

// Why the list is empty.
function whyEmpty({ clusters }, { text, status, cluster }) {
  if (!clusters.some(({ group }) => group.length)) return "No group has committed anything yet.";
  if (cluster && !clusters.some(({ name }) => name === cluster))
    return `There is no cluster “${cluster}”.`;
  if (status && !isStatus(status))
    return `There is no status “${status}”: a group is ${STATUSES.join(", ")}.`;
  const where = cluster ? ` of ${cluster}` : "";
  const which = status ? ` that is ${status}` : "";
  return text
    ? `No group${where}${which} has “${text}” in its name, its topics or its owners.`
    : `No group${where}${which}.`;
}

// The same choice as /v4/groups makes it: pages of it end at so many groups, lines do not.
function asked({ text, status, cluster }, count) {
  const known = { search: text.trim(), status, cluster };
  const set = Object.entries(known).filter(([, value]) => value);
  const all = count > MOST_ON_A_PAGE ? { format: "ndjson" } : { limit: MOST_ON_A_PAGE };
  return { ...Object.fromEntries(set), ...all };
}

const HEADS = [
  ...["cluster", "group", "status", "behind_s", "lag", "produced_per_s", "consumed_per_s"],
  ...["worst_partition", "worst_partition_lag", "last_commit", "owner"],
];

function asTable(rows) {
  const line = (row) => [
    ...[row.cluster, row.group, row.status, row.behindS, row.lag],
    ...[row.of.produced?.[row.at], row.of.consumed?.[row.at]],
    ...[`${row.topic}:${row.partition}`, row.maxLag, iso(row.lastMs), row.owner],
  ];
  return [HEADS, ...rows.map(line)];
}
