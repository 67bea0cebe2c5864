// What keeps the offsets of a group, if it keeps them itself: a Spark query, or another program.

import { h } from "../lib/dom.js";

export function queryCards({ about_query: sentences }) {
  if (!sentences?.length) return [];
  const lines = sentences.map((each) => h("li", null, each));
  const title = h("h2", null, "Where its offsets come from");
  return [h("section", { class: "card query" }, title, h("ul", null, ...lines))];
}
