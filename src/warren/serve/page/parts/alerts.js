// How many groups are ERR, for the title of the tab: that is seen when the page is not.

import { get, wait } from "./api.js";

const HIDDEN_MS = 30_000; // a hidden page asks now and then, and for this number only

export class Alerts {
  constructor() {
    this.count = 0;
    this.title = "";
  }

  name(title) {
    this.title = title;
    this.#show();
  }

  async refresh() {
    try {
      this.count = (await get("/v4/groups", { status: "ERR", limit: 1 })).total;
    } catch {
      return; // the page itself says that there is no answer
    }
    this.#show();
  }

  async whileHidden() {
    for (;;) {
      await wait(HIDDEN_MS);
      if (document.hidden) await this.refresh();
    }
  }

  #show() {
    const count = this.count ? `(${this.count.toLocaleString("en")}) ` : "";
    document.title = `${count}${this.title} · Warren`;
  }
}
