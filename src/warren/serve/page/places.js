// Deep links: every view has an address, and any name fits into one.

const path = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

export const groupLink = (cluster, group) => path("group", cluster, group);
export const topicLink = (cluster, topic) => path("topic", cluster, topic);

export function place(hash) {
  const [route, query] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view, ...names] = route.split("/").map(decode);
  return { view: view || "overview", names, query: new URLSearchParams(query ?? "") };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone percent sign stands for itself
  }
}
