// All topics, and a search among them.

import { h, named } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { get } from "../parts/api.js";
import { topicLink } from "../parts/links.js";

const MOST_TOPICS = 500;

export function topicsView() {
  const search = h("input", {
    type: "search",
    placeholder: "Topic",
    "aria-label": "Search topics",
    autocomplete: "off",
    oninput: () => draw(),
  });
  const note = h("p", { class: "total", role: "status" });
  const list = h("ul", { class: "topics" });
  const element = h(
    "article",
    { class: "page" },
    h("h1", { class: "unseen" }, "Topics"),
    h("div", { class: "tools" }, search, note),
    list,
  );
  let all = [];

  function draw() {
    const word = search.value.toLowerCase();
    const found = all.filter(([, topic]) => topic.toLowerCase().includes(word));
    const lines = found
      .slice(0, MOST_TOPICS)
      .map(([cluster, topic]) =>
        h(
          "li",
          null,
          h("a", { href: topicLink(cluster, topic) }, named(topic)),
          h("span", { class: "of" }, cluster),
        ),
      );
    list.replaceChildren(...lines);
    note.textContent =
      found.length > lines.length
        ? `the first ${lines.length} of ${count(found.length)}`
        : `${count(found.length)} topics`;
  }

  return {
    title: "Topics",
    element,
    async refresh() {
      const { clusters } = await get("/v3/kafka");
      const answers = await Promise.all(
        clusters.map((cluster) => get("/v4/topics", { cluster }).catch(() => ({ topics: [] }))),
      );
      const fresh = answers.flatMap(({ topics }, at) =>
        topics.map((topic) => [clusters[at], topic]),
      );
      if (JSON.stringify(fresh) === JSON.stringify(all) && all.length) return;
      all = fresh;
      draw();
    },
  };
}
