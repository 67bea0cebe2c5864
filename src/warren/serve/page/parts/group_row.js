// A group as a row of the overview: made once, filled again and again.

import { h, named } from "../lib/dom.js";
import { ago, brief, briefGrowth, counted, growthInWords, NONE, rate } from "../lib/format.js";
import { everyColumn } from "./columns.js";
import { numbersOf } from "./groups.js";
import { groupLink } from "./links.js";
import { alarms, behind, catchUp, lagOf } from "./numbers.js";
import { lagGrowth } from "./projection.js";
import { badge } from "./status.js";

const LEVEL = "i"; // half way up: a lag that stays as it is, and is not 0
const SVG = "http://www.w3.org/2000/svg";

export const cellClass = ({ name, number }) => `cell ${name}${number ? " number" : ""}`;

export function makeRow() {
  const cells = Object.fromEntries(
    everyColumn.map((column) => [
      column.name,
      h("div", { role: "gridcell", class: cellClass(column) }),
    ]),
  );
  const row = {
    cells,
    link: h("a", { tabindex: -1 }),
    name: named(""),
    cluster: h("span", { class: "of" }),
    alarm: h("span", { class: "alarm" }),
    quiet: h("span", { class: "quiet" }),
    spark: spark(),
    growth: h("span", { class: "of growth" }),
    worst: named(""),
    worstLag: h("span", { class: "of" }),
    owner: named(""),
  };
  row.link.append(row.name);
  cells.group.append(row.link, " ", row.cluster, row.quiet, row.alarm);
  cells.trend.append(row.spark, row.growth);
  cells.worst.append(row.worst, " ", row.worstLag);
  cells.owner.append(row.owner);
  row.element = h("div", { role: "row", class: "row" }, ...Object.values(cells));
  return row;
}

// Only what has changed is touched.
export function fillRow(row, item, { isWide, nowMs, silenced }) {
  const { cells } = row;
  const tag = item.status === "ERR" ? item.worst : item.status;
  if (row.tag !== tag) cells.status.replaceChildren(badge(tag));
  row.tag = tag;
  const link = groupLink(item.cluster, item.group);
  if (row.link.getAttribute("href") !== link) {
    row.link.setAttribute("href", link);
    rename(row.name, item.group);
  }
  row.cluster.textContent = isWide ? item.cluster : "";
  const quiet = silenced.of(item.cluster, item.group);
  row.quiet.hidden = !quiet;
  row.quiet.textContent = row.quiet.dataset.kind = quiet?.brief ?? "";
  row.quiet.title = quiet?.title ?? "";
  fillNumbers(row, item);
  const isLevel = item.lag > 0 && !/[^0]/.test(item.trend);
  const trend = isLevel ? item.trend.replaceAll("0", LEVEL) : item.trend;
  if (row.trend !== trend) drawSpark(row.spark, trend);
  row.trend = trend;
  rename(row.worst, item.lag ? `${item.topic}:${item.partition}` : "–");
  row.worstLag.textContent = item.lag ? brief(item.maxLag) : "";
  cells.age.replaceChildren(ago(item.lastMs, nowMs));
  rename(row.owner, item.owner || "–");
}

function rename(element, name) {
  element.textContent = element.title = name;
}

function fillNumbers({ cells, alarm, growth: speed }, item) {
  const numbers = numbersOf(item);
  const found = alarms(numbers);
  alarm.hidden = !found.length;
  alarm.textContent = found.map((each) => each.brief).join(", ");
  alarm.title = found.map((each) => each.text).join(" ");
  write(cells.behind, behind(numbers));
  write(cells.lag, lagOf(item.lag, numbers, ` in ${counted(item.partitions, "partition")}`));
  write(cells.drain, catchUp(numbers));
  cells.produced.textContent = numbers.produced === null ? NONE : rate(numbers.produced);
  const growing = lagGrowth(item.lag, numbers);
  speed.textContent = growing === null ? "" : briefGrowth(growing);
  cells.trend.title = growing === null ? "" : growthInWords(growing);
  cells.consumed.textContent = numbers.consumed === null ? NONE : rate(numbers.consumed);
}

function write(cell, { text, title }) {
  cell.textContent = text;
  cell.title = title;
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

// A trend is a string of digits in base 36, from its own least to its own greatest lag; see
// /v4/overview.
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
