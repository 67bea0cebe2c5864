// Who is not told about a group for a while: its silences, and how to add and end them.

import { h, renew } from "../lib/dom.js";
import { exactly } from "../lib/format.js";
import { forGood } from "../lib/storage.js";
import { get, send } from "./api.js";

const PATH = "/v4/silences";
const AUTHOR = "warren-author";
const LENGTHS = [
  ["1h", "1 hour"],
  ["4h", "4 hours"],
  ["8h", "8 hours"],
  ["1d", "1 day"],
  ["7d", "7 days"],
];
const KINDS = {
  acknowledgement: {
    title: "Acknowledge",
    told: "Acknowledged",
    about: "Others see that somebody works on it, and nobody is notified again meanwhile.",
    length: "4h",
  },
  silence: {
    title: "Silence",
    told: "Silenced",
    about: "Nobody is notified about this group meanwhile. It is judged and shown as always.",
    length: "1h",
  },
};
const AGAIN_MS = 60_000;

export class Silences {
  constructor(where) {
    this.where = where;
    this.nextLook = 0;
    this.element = h("div", { class: "silences", role: "status" });
    this.buttons = Object.entries(KINDS).map(([kind, { title }]) =>
      h("button", { type: "button", onclick: () => this.#open(kind) }, `${title} …`),
    );
  }

  async look() {
    if (performance.now() < this.nextLook) return;
    this.nextLook = performance.now() + AGAIN_MS;
    try {
      const { silences } = await get(PATH, this.where);
      renew(this.element, silences.filter((each) => each.holds).map((each) => this.#line(each)));
    } catch {
      this.nextLook = 0; // the page says itself that there is no answer; with the next board again
    }
  }

  #line(silence) {
    const { id, created } = silence;
    const said = h("p", { class: "silence" }, inWords(silence));
    const button = h("button", { type: "button", "data-id": id }, "End it");
    button.addEventListener("click", (event) => this.#end(event.currentTarget));
    return h("div", null, said, created ? button : h("span", { class: "of" }, "configured"));
  }

  async #end(button) {
    try {
      await send("DELETE", `${PATH}/${button.dataset.id}`);
    } catch (error) {
      button.after(h("span", { class: "problem" }, error.message));
      return;
    }
    this.#again();
  }

  #again() {
    this.nextLook = 0;
    return this.look();
  }

  #open(kind) {
    const { title, about, length } = KINDS[kind];
    const field = (label, input) => h("label", null, label, input);
    const lasts = h("select", null, ...LENGTHS.map(([value, text]) => h("option", { value }, text)));
    const author = h("input", { value: forGood.get(AUTHOR) ?? "", maxlength: 100, required: true });
    const reason = h("input", { maxlength: 500 });
    const said = h("p", { class: "problem", role: "alert" });
    lasts.value = length;
    const submit = async (event) => {
      event.preventDefault();
      if (event.submitter?.value === "cancel") return dialog.close();
      said.textContent = "";
      forGood.set(AUTHOR, author.value);
      const why = { author: author.value, comment: reason.value };
      const asked = { kind, duration: lasts.value, ...why };
      try {
        await send("POST", PATH, { ...asked, ...exactlyThis(this.where) });
      } catch (error) {
        said.textContent = error.message;
        return undefined;
      }
      dialog.close();
      return this.#again();
    };
    const dialog = h(
      "dialog",
      { class: "prompt", "aria-labelledby": "silence-title" },
      h(
        "form",
        { method: "dialog", onsubmit: submit },
        h("h2", { id: "silence-title" }, `${title}: `, h("bdi", null, this.where.group)),
        h("p", { class: "of" }, about),
        field("For", lasts),
        field("Your name", author),
        field("Why", reason),
        said,
        h("button", { type: "submit" }, title),
        h("button", { type: "submit", value: "cancel", formnovalidate: true }, "Cancel"),
      ),
    );
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
}

// Which groups are silenced now, for a list of many.
export class Silenced {
  constructor() {
    this.nextLook = 0;
    this.groups = new Map();
  }

  async look() {
    if (performance.now() < this.nextLook) return;
    this.nextLook = performance.now() + AGAIN_MS;
    try {
      const { silences, groups } = await get(PATH, { groups: true });
      const by = new Map(silences.map((each) => [each.id, each]));
      this.groups = new Map(
        groups.map(({ cluster, group, silence }) => [`${cluster}\n${group}`, by.get(silence)]),
      );
    } catch {
      this.nextLook = 0;
    }
  }

  // { brief, title } of a group that is silenced, or null.
  of(cluster, group) {
    const silence = this.groups.get(`${cluster}\n${group}`);
    return silence ? { brief: KINDS[silence.kind].told.toLowerCase(), title: inWords(silence) } : null;
  }
}

function inWords({ kind, end, author, comment }) {
  const until = end ? ` until ${exactly(Date.parse(end))}` : "";
  const who = author ? ` by ${author}` : "";
  return `${KINDS[kind].told}${who}${until}${comment ? `: ${comment}` : ""}`;
}

// A text with special characters is a regular expression there, so these are escaped.
const pattern = (name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
const exactlyThis = ({ cluster, group }) => ({
  clusters: [pattern(cluster)],
  groups: [pattern(group)],
});
