// Deep links: every view has an address, and any name fits into one.

const path = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

export const groupLink = (cluster, group) => path("group", cluster, group);
export const topicLink = (cluster, topic) => path("topic", cluster, topic);

// "?a=1&b=2" of what has a value, or nothing at all.
export function asQuery(values) {
  const set = Object.entries(values).filter(([, value]) => value);
  return set.length ? `?${new URLSearchParams(set)}` : "";
}

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
