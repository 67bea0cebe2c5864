// A group as a row of the overview: made once, filled again and again.

import { h, named } from "../lib/dom.js";
import { ago, brief, count } from "../lib/format.js";
import { groupLink } from "./links.js";
import { badge } from "./status.js";

const SVG = "http://www.w3.org/2000/svg";

// The order that a click on the head asks for, the head, the class of the cells.
export const COLUMNS = [
  ["trouble", "Status", "status"],
  ["name", "Group", "group"],
  ["lag", "Lag", "lag number"],
  ["", "Trend", "trend"],
  ["", "Worst partition", "worst"],
  ["age", "Last commit", "age number"],
  ["", "Owner", "owner"],
];

export function makeRow() {
  const cells = Object.fromEntries(
    COLUMNS.map(([, , name]) => [
      name.split(" ")[0],
      h("div", { role: "gridcell", class: `cell ${name}` }),
    ]),
  );
  const row = {
    cells,
    link: h("a", { tabindex: -1 }),
    name: named(""),
    cluster: h("span", { class: "of" }),
    spark: spark(),
    worst: named(""),
    worstLag: h("span", { class: "of" }),
    owner: named(""),
  };
  row.link.append(row.name);
  cells.group.append(row.link, " ", row.cluster);
  cells.trend.append(row.spark);
  cells.worst.append(row.worst, " ", row.worstLag);
  cells.owner.append(row.owner);
  row.element = h("div", { role: "row", class: "row" }, ...Object.values(cells));
  return row;
}

// Only what has changed is touched.
export function fillRow(row, item, { isWide, nowMs }) {
  const { cells } = row;
  const tag = item.status === "ERR" ? item.worst : item.status;
  if (row.tag !== tag) cells.status.replaceChildren(badge(tag));
  row.tag = tag;
  const link = groupLink(item.cluster, item.group);
  if (row.link.getAttribute("href") !== link) {
    row.link.setAttribute("href", link);
    row.name.textContent = item.group;
    cells.group.title = item.group;
  }
  row.cluster.textContent = isWide ? item.cluster : "";
  cells.lag.textContent = brief(item.lag);
  cells.lag.title = `${count(item.lag)} messages in ${item.partitions} partitions`;
  if (row.trend !== item.trend) drawSpark(row.spark, item.trend);
  row.trend = item.trend;
  row.worst.textContent = item.lag ? `${item.topic}:${item.partition}` : "–";
  row.worstLag.textContent = item.lag ? brief(item.maxLag) : "";
  cells.worst.title = row.worst.textContent;
  cells.age.replaceChildren(ago(item.lastMs, nowMs));
  row.owner.textContent = item.owner || "–";
  cells.owner.title = item.owner;
}

function spark() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", "0 0 100 20");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS(SVG, "polygon"), document.createElementNS(SVG, "polyline"));
  return svg;
}

// A trend is a string of digits in base 36, see /v4/overview.
function drawSpark(svg, trend) {
  const step = 100 / Math.max(trend.length - 1, 1);
  const points = [...trend].map(
    (digit, at) =>
      `${(at * step).toFixed(1)},${(18.5 - (parseInt(digit, 36) / 35) * 17).toFixed(1)}`,
  );
  svg.classList.toggle("flat", /^0*$/.test(trend));
  svg.lastChild.setAttribute("points", points.join(" "));
  svg.firstChild.setAttribute(
    "points",
    points.length ? ["0,20", ...points, "100,20"].join(" ") : "",
  );
}
