// A list of any length: only the rows in sight exist.

import { h } from "../lib/dom.js";

const SPARE = 8; // rows above and below those in sight
const MOST_PRINTED = 2000;

export class List {
  // `make()` gives an empty row, `fill(row, item)` writes an item into it, `open(item)` is Enter.
  constructor({ header, label, make, fill, open }) {
    Object.assign(this, { make, fill, open, items: [], pool: [], selected: -1, first: -1 });
    this.rows = h("div", { class: "rows", role: "presentation" });
    this.space = h("div", { class: "space", role: "rowgroup" }, this.rows);
    this.element = h(
      "div",
      { class: "list", role: "grid", tabindex: 0, "aria-label": label },
      h("div", { role: "rowgroup", class: "head" }, header),
      this.space,
    );
    this.header = header;
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    this.element.addEventListener("click", (event) => this.#click(event));
    this.sizes = new ResizeObserver(() => this.draw(true));
    this.sizes.observe(this.element);
    this.print = ({ type }) => this.draw(true, type === "beforeprint");
    addEventListener("beforeprint", this.print);
    addEventListener("afterprint", this.print);
  }

  show(items, key) {
    const kept = this.items[this.selected];
    this.items = items;
    this.element.setAttribute("aria-rowcount", items.length + 1);
    this.select(kept, key);
  }

  select(item, key) {
    this.selected = item ? this.items.findIndex((each) => key(each) === key(item)) : -1;
    this.draw(true);
  }

  get height() {
    return parseFloat(getComputedStyle(this.element).getPropertyValue("--row")) || 34;
  }

  // On paper there is nothing to scroll: all rows are drawn.
  draw(anew = false, isPrinted = false) {
    const height = anew || !this.known ? (this.known = this.height) : this.known;
    const inSight = Math.ceil(this.element.clientHeight / height) + 2 * SPARE;
    const seen = isPrinted ? MOST_PRINTED : inSight;
    const top = Math.floor(this.element.scrollTop / height) - SPARE;
    const first = isPrinted ? 0 : Math.max(0, top);
    if (!anew && first === this.first) return;
    this.first = first;
    this.space.style.height = `${this.items.length * height}px`;
    this.rows.style.transform = `translateY(${first * height}px)`;
    const shown = Math.max(0, Math.min(seen, this.items.length - first));
    while (this.pool.length < shown) {
      const row = this.make();
      this.pool.push(row);
      this.rows.append(row.element);
    }
    this.pool.forEach((row, at) => this.#place(row, at, first, shown));
    this.#mark();
  }

  #place(row, at, first, shown) {
    row.element.hidden = at >= shown;
    if (row.element.hidden) return;
    row.at = first + at;
    row.element.id = `row-${row.at}`;
    row.element.setAttribute("aria-rowindex", row.at + 2);
    try {
      this.fill(row, this.items[row.at]);
    } catch (error) {
      console.error(error); // one row that cannot be written leaves no other out
    }
  }

  #mark() {
    for (const row of this.pool)
      row.element.setAttribute("aria-selected", !row.element.hidden && row.at === this.selected);
    const isSeen = this.pool.some((row) => !row.element.hidden && row.at === this.selected);
    if (isSeen) this.element.setAttribute("aria-activedescendant", `row-${this.selected}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #click(event) {
    const row = this.pool.find((each) => each.element.contains(event.target));
    if (row && !event.target.closest("a")) this.open(this.items[row.at]);
  }

  move(to) {
    if (!this.items.length) return;
    this.selected = Math.max(0, Math.min(to, this.items.length - 1));
    const height = this.height;
    const top = this.selected * height;
    const inSight = this.element.clientHeight - this.header.offsetHeight - height;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top > this.element.scrollTop + inSight) this.element.scrollTop = top - inSight;
    this.draw(true);
  }

  // The first row that is wholly in sight.
  get #uppermost() {
    return Math.ceil(this.element.scrollTop / this.height);
  }

  // Whether the key was one of the list's.
  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) 
      this.move(this.selected < 0 ? this.#uppermost : this.selected + steps[event.key]);
    else if (event.key === "Enter" && this.selected >= 0) this.open(this.items[this.selected]);
    else return false;
    event.preventDefault();
    return true;
  }

  close() {
    this.sizes.disconnect();
    removeEventListener("beforeprint", this.print);
    removeEventListener("afterprint", this.print);
  }
}
