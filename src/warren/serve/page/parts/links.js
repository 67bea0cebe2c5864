// Deep links: every view has an address, and any name fits into one.

const path = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

export const groupLink = (cluster, group) => path("group", cluster, group);
export const topicLink = (cluster, topic) => path("topic", cluster, topic);

// A link to a dashboard elsewhere, of which the configuration gives the pattern; "" without one.
export function dashboardLink(values) {
  const pattern = document.body.dataset.grafana;
  const known = new Map(Object.entries(values));
  return pattern.replace(/\{\{\s*\.(\w+)\s*\}\}/g, (text, name) =>
    known.has(name) ? encodeURIComponent(known.get(name)) : text,
  );
}

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
