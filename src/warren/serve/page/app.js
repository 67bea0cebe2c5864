// Which view is shown, and when it is redrawn.

import { h, named } from "./lib/dom.js";
import { clockTime, duration, exactly } from "./lib/format.js";
import { showTheme } from "./lib/theme.js";
import { Alerts } from "./parts/alerts.js";
import { follow, Missing, serverNow, wait } from "./parts/api.js";
import { groupLink, place } from "./parts/links.js";
import { changed } from "./parts/status.js";
import { changesView } from "./views/changes.js";
import { groupView } from "./views/group.js";
import { healthView } from "./views/health.js";
import { overviewView } from "./views/overview.js";
import { topicView } from "./views/topic.js";
import { topicsView } from "./views/topics.js";

const VIEWS = {
  __proto__: null, // an address names views, nothing else
  overview: overviewView,
  group: groupView,
  topics: topicsView,
  topic: topicView,
  changes: changesView,
  health: healthView,
};
// The entry of the top bar that a view belongs to.
const PARENTS = { __proto__: null, group: "overview", topic: "topics" };
const main = document.getElementById("view");
const live = document.getElementById("live");
const news = document.getElementById("news");
const FRESH_MS = Number(document.body.dataset.fresh) * 1000; // an older board is marked as old
const BEHIND_S = 10; // more is shown as behind; two to five seconds are usual
const alerts = new Alerts();

let view = null; // { element, title, refresh, key?, redraw?, close? }
let restMs = 1000; // between two drawings
let due = false;
let isBusy = false;
let momentMs = null; // of the latest board; 0: nothing is judged yet
let behindS = 0; // how old the commits are that it is made of; null: not known yet

async function show() {
  const where = place(location.hash);
  const make = VIEWS[where.view] ?? overviewView;
  view?.close?.();
  view = make(where);
  for (const link of document.querySelectorAll("nav a")) {
    const name = link.dataset.view;
    if (VIEWS[name] === make) link.setAttribute("aria-current", "page");
    else if (PARENTS[where.view] === name) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  alerts.name(view.title);
  await refresh(view);
  main.scrollTop = 0;
}

// When the link that was clicked is gone, the focus moves to the start of the new view.
async function navigate() {
  await show();
  if (document.activeElement === document.body) main.focus({ preventScroll: true });
}

// The old drawing stays until the new one is ready.
async function refresh(shown) {
  try {
    await shown.refresh();
    if (view === shown && main.firstChild !== shown.element) main.replaceChildren(shown.element);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) console.error(error); // ours
    if (view === shown) showProblem(shown, error);
  }
}

// A group that goes while it is shown stays on the page, with a note that it is gone.
function showProblem(shown, error) {
  const isDrawn = main.contains(shown.element);
  if (isDrawn && (main.firstChild !== shown.element || !(error instanceof Missing))) return;
  const text =
    error instanceof Missing ? `${error.message}.` : `Warren does not answer: ${error.message}`;
  main.replaceChildren(
    h("p", { class: "problem", role: "alert" }, text, isDrawn ? " This is the last of it." : ""),
    isDrawn ? shown.element : h("p", null, h("a", { href: "#/" }, "All groups")),
  );
}

async function keepFresh() {
  for (;;) {
    await wait(100);
    if (!due || isBusy || document.hidden || !view) continue;
    due = false;
    isBusy = true;
    const began = performance.now();
    await Promise.all([refresh(view), alerts.refresh()]);
    // The longer a board takes to draw, the less often it is requested.
    restMs = Math.max(1000, (performance.now() - began) * 5);
    await wait(restMs);
    isBusy = false;
  }
}

function onEvent(kind, data) {
  if (kind === "status") {
    showNews(data);
  } else {
    due = true;
    if (data) momentMs = data.moment_ms;
    if (data) behindS = data.behind_s;
    showMoment();
  }
}

function showNews({ cluster, group, before, after }) {
  const [from, to] = changed(before, after);
  const change = h("span", null, from, " → ", to);
  news.replaceChildren(named(group), ` in ${cluster} `, change);
}

// An open stream may bring nothing new, or old data: then the page does not say "live".
function showMoment() {
  if (momentMs === null || live.dataset.state !== "live") return;
  if (!momentMs) {
    live.toggleAttribute("data-old", true);
    live.textContent = "starting";
    return;
  }
  const age = serverNow() - momentMs;
  const isOld = age > FRESH_MS;
  if (behindS === null && !isOld) {
    live.toggleAttribute("data-old", true);
    live.textContent = "reading";
    return;
  }
  const isBehind = behindS > BEHIND_S;
  live.toggleAttribute("data-old", isOld || isBehind);
  const ms = isBehind ? momentMs - behindS * 1000 : momentMs;
  const when = { datetime: new Date(ms).toISOString(), title: exactly(ms) };
  if (isOld) live.replaceChildren("nothing new for ", h("time", when, duration(age / 1000)));
  else if (isBehind) live.replaceChildren("reading is behind by ", h("time", when, duration(behindS)));
  else live.replaceChildren("live ", h("time", when, clockTime(ms)));
}

function onStream(state) {
  live.dataset.state = state;
  live.removeAttribute("data-old");
  showMoment();
  if (state === "lost") live.textContent = "connection lost, trying again";
  if (state === "polling") live.textContent = "every 5 s";
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !isTyping) {
    const search = main.querySelector("input[type=search]");
    if (search) event.preventDefault();
    search?.focus();
  } else view?.key?.(event, isTyping);
}

// A link from the page without script leads to the same view with script.
function adopt() {
  const query = new URLSearchParams(location.search);
  if (!location.search || location.hash) return;
  const [cluster, group, match] = ["cluster", "group", "match"].map((name) => query.get(name) ?? "");
  const list = match ? `#/?${new URLSearchParams({ q: match })}` : "#/";
  history.replaceState(null, "", `/${query.has("group") ? groupLink(cluster, group) : list}`);
}

// Without changing the address, which names the view.
function skip(event) {
  event.preventDefault();
  main.focus();
}

adopt();
document.querySelector(".skip").addEventListener("click", skip);
showTheme(document.getElementById("theme"), () => view?.redraw?.());
addEventListener("hashchange", navigate);
addEventListener("keydown", onKey);
addEventListener("visibilitychange", () => (due = true));
await show();
follow(onEvent, onStream);
keepFresh();
alerts.whileHidden();
setInterval(showMoment, 5000);
