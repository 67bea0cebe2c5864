// The history of a group, requested now and then. Old parts are read from disk, by Spark if there
// is much to read, which may take long.

import { h, section } from "../lib/dom.js";
import { brief, counted, duration, exactly, iso, percent } from "../lib/format.js";
import { get, Missing, Refused, serverNow } from "./api.js";
import { gridOfHistory } from "./grid.js";
import { asQuery } from "./links.js";
import { badge } from "./status.js";

const RANGES = [
  ["", "Now"],
  ["1h", "1 h"],
  ["6h", "6 h"],
  ["24h", "24 h"],
  ["7d", "7 d"],
];
const PATH = "/v4/history";
const USUAL = "24h"; // of incidents, when no period is chosen
const DAY_MS = 86_400_000;
const AGAIN_MS = 60_000;
const SOON_MS = 10_000; // when something has begun or ended
const RETRY_MS = [2_000, 5_000, 10_000]; // after the first failure, the second, and later ones
const SLOW_MS = 3_000; // after so long the page says how long it takes

export class GroupHistory {
  // A period is { since, until }, as in the address; without `since` it is now.
  constructor(where, query, changed) {
    Object.assign(this, { where, changed, shown: null, nextLook: 0, failures: 0, status: "OK" });
    this.isKept = Boolean(document.body.dataset.history);
    this.isEmpty = false; // there is nothing to draw of the period
    this.ticket = null; // of the request that is under way
    this.period = { since: query.get("since") ?? "", until: query.get("until") ?? "" };
    this.note = h("span", { class: "note", role: "status" });
    this.buttons = h(
      "div",
      { class: "segmented", role: "group", "aria-label": "Period" },
      ...RANGES.map(([since, text]) =>
        h("button", { type: "button", onclick: () => this.#choose({ since, until: "" }) }, text),
      ),
    );
    this.from = timeInput("From");
    this.to = timeInput("To");
    const form = h(
      "form",
      { class: "period", onsubmit: (event) => this.#submit(event) },
      h("label", null, "From ", this.from),
      h("label", null, "to ", this.to),
      h("button", { type: "submit" }, "Show"),
    );
    this.picker = h("div", { class: "tools", hidden: !this.isKept }, this.buttons, form, this.note);
    this.list = h("ul", { class: "incidents" });
    this.incidents = section("Incidents", this.list);
    const none = "A section [history] in the configuration keeps what was before.";
    this.list.append(h("li", { class: "of" }, this.isKept ? "History is being read …" : none));
    this.#mark();
    this.#fill(serverNow() - DAY_MS, serverNow());
  }

  // Whether what is shown ends now.
  get isNow() {
    return !this.period.until;
  }

  // Whether a period is chosen and nothing is known of it yet.
  get isAwaited() {
    return Boolean(this.period.since) && !this.shown && !this.isEmpty;
  }

  // The incident that is not over, if history knows of one.
  get openIncident() {
    return this.newest?.ended_ms === null ? this.newest : null;
  }

  // Requests the incidents, and the whole history if a period is chosen.
  async look(status = this.status) {
    this.status = status;
    if (!this.isKept || performance.now() < this.nextLook) return;
    this.nextLook = performance.now() + AGAIN_MS;
    clearTimeout(this.retry);
    const { period } = this;
    const range = period.since ? period : { since: USUAL, until: "", partitions: 0 };
    const ticket = (this.ticket = Math.random().toString(36).slice(2));
    const slow = this.#showWaiting(ticket);
    try {
      const answer = await get(PATH, { ...this.where, ...range, ticket });
      if (period !== this.period) return; // another was chosen meanwhile
      this.failures = 0;
      this.#drawIncidents(answer);
      this.#keep(answer);
      this.changed();
      const isOpen = answer.incidents.some((each) => each.ended_ms === null);
      // History is written after the verdict: a new incident, or its end, is in it soon.
      if (isOpen !== (status !== "OK") && !period.until)
        this.nextLook = performance.now() + SOON_MS;
    } catch (error) {
      if (period === this.period) this.#failed(error);
    } finally {
      clearInterval(slow);
      if (ticket === this.ticket) this.ticket = null;
    }
  }

  // Says how far reading is; while it waits for its turn, for how long.
  #showWaiting(ticket) {
    const began = performance.now();
    return setInterval(async () => {
      const { share, moments } = await get(`${PATH}/progress`, { ticket }).catch(() => ({}));
      if (ticket !== this.ticket) return; // it is answered, or another period was chosen
      const seconds = duration((performance.now() - began) / 1000);
      const far = `: ${percent(share ?? 0)}, ${counted(moments, "moment")} so far`;
      this.#say(`History is being read${share ? far : `, for ${seconds} now`} …`);
    }, SLOW_MS);
  }

  // Shows the problem and retries, unless nothing was kept or no answer can be had.
  #failed(error) {
    if (error instanceof Missing) {
      this.#drawIncidents({ incidents: [], since_ms: serverNow() - DAY_MS, until_ms: serverNow() });
      this.note.textContent = this.period.since ? "Nothing was kept in that time." : "";
      this.#showNothing();
      return;
    }
    if (error instanceof Refused) {
      this.nextLook = Infinity;
      this.incidents.querySelector("h2").textContent = "Incidents";
      this.list.replaceChildren();
      this.#say(`That cannot be shown: ${error.message}.`);
      this.#showNothing();
      return;
    }
    const wait = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
    this.failures += 1;
    this.#say(`The past is not answered: ${error.message}. Asked again in ${duration(wait / 1000)}.`);
    this.retry = setTimeout(() => {
      this.nextLook = 0;
      this.look();
    }, wait);
  }

  #showNothing() {
    this.isEmpty = Boolean(this.period.since);
    this.changed();
  }

  // Beside the periods, or in place of incidents that are not drawn yet.
  #say(text) {
    if (this.period.since) this.note.textContent = text;
    if (!this.list.querySelector("time")) this.list.replaceChildren(h("li", { class: "of" }, text));
  }

  async #choose(period) {
    this.period = period;
    history.replaceState(null, "", location.hash.split("?")[0] + asQuery(period));
    this.#mark();
    this.note.textContent = period.since ? "History is being read …" : "";
    this.shown = null;
    this.isEmpty = false;
    this.nextLook = this.failures = 0;
    if (!period.since) this.changed();
    await this.look();
  }

  #submit(event) {
    event.preventDefault();
    const moment = (input) => (input.value ? new Date(input.value).toISOString() : "");
    const [since, until] = [moment(this.from), moment(this.to)];
    if (since && until && since >= until)
      this.note.textContent = "The end of a period comes after its beginning.";
    else this.#choose({ since: since || USUAL, until });
  }

  #mark() {
    const { since, until } = this.period;
    [...this.buttons.children].forEach((button, at) =>
      button.setAttribute("aria-pressed", String(!until && RANGES[at][0] === since)),
    );
  }

  #fill(fromMs, toMs) {
    this.from.value = forInput(fromMs);
    this.to.value = forInput(toMs);
  }

  #keep(answer) {
    this.note.textContent = "";
    if (!this.period.since) return;
    // Not while somebody is typing there.
    if (!document.activeElement?.closest?.(".period")) this.#fill(answer.since_ms, answer.until_ms);
    this.isEmpty = !answer.moments;
    this.note.textContent = this.isEmpty ? "Nothing was kept in that time." : "";
    this.shown = this.isEmpty ? null : { answer, grid: gridOfHistory(answer) };
  }

  #drawIncidents({ incidents, since_ms, until_ms }) {
    const { isNow } = this;
    if (isNow) [this.newest] = incidents;
    const heading = this.incidents.querySelector("h2");
    heading.textContent = isNow
      ? `Incidents since ${exactly(since_ms)}`
      : `Incidents from ${exactly(since_ms)} to ${exactly(until_ms)}`;
    const lines = incidents.map((each) => {
      const end = each.ended_ms ?? (isNow ? serverNow() : until_ms);
      const lasted = `${duration((end - each.began_ms) / 1000)}${each.ended_ms ? "" : ", not over"}`;
      return h(
        "li",
        null,
        badge(each.status),
        timeOf(each.began_ms),
        h("span", { class: "of" }, `${lasted}, lag up to ${brief(each.max_lag)}`),
      );
    });
    this.list.replaceChildren(...(lines.length ? lines : [h("li", null, "None.")]));
  }

  close() {
    this.changed = () => {};
    this.isKept = false; // no more requests
    clearTimeout(this.retry);
  }
}

const timeOf = (ms) => h("time", { datetime: iso(ms) }, exactly(ms));
const timeInput = (label) => h("input", { type: "datetime-local", "aria-label": label });

// Local time, in the format of a datetime-local input.
function forInput(ms) {
  const there = new Date(iso(ms));
  return iso(there - there.getTimezoneOffset() * 60_000).slice(0, 16);
}
