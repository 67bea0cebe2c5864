// Elements are made of text, never of markup: a name cannot become an element.

export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// A name of somebody else's: it keeps its own direction of writing to itself.
export function named(name) {
  return h("bdi", { class: "name" }, name);
}

export function badge(status) {
  return h("span", { class: `status ${status.toLowerCase()}` }, status);
}

const SVG = "http://www.w3.org/2000/svg";

export function spark() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", "0 0 100 20");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS(SVG, "polygon"), document.createElementNS(SVG, "polyline"));
  return svg;
}

// A trend is a string of digits in base 36, see /v4/overview.
export function drawSpark(svg, trend) {
  const step = 100 / Math.max(trend.length - 1, 1);
  const points = [...trend].map(
    (digit, at) =>
      `${(at * step).toFixed(1)},${(18.5 - (parseInt(digit, 36) / 35) * 17).toFixed(1)}`,
  );
  svg.classList.toggle("flat", /^0*$/.test(trend));
  svg.lastChild.setAttribute("points", points.join(" "));
  svg.firstChild.setAttribute(
    "points",
    points.length ? ["0,20", ...points, "100,20"].join(" ") : "",
  );
}

export function section(title, ...children) {
  return h("section", { class: "card" }, h("h2", null, title), ...children);
}

export function fact(label, ...value) {
  return h("div", { class: "fact" }, h("dt", null, label), h("dd", null, ...value));
}

export function facts(...all) {
  return h("dl", { class: "facts" }, ...all);
}

// The states of a partition, from good to bad.
export const RANK = ["OK", "WARN", "STOP", "STALL", "REWIND"];
export const rank = (status) => RANK.indexOf(status);

// New children in place of the old. An element that was there stays and becomes like the new one,
// so that what has the focus, is scrolled or is just being clicked is not lost; it also keeps its
// listeners, which therefore may not know what the old one showed.
export function renew(parent, children) {
  children.forEach((child, at) => {
    const [old, fresh] = [parent.childNodes[at], child instanceof Node ? child : new Text(child)];
    if (!old) parent.append(fresh);
    else if (old.nodeName !== fresh.nodeName) old.replaceWith(fresh);
    else if (!old.isEqualNode(fresh)) become(old, fresh);
  });
  while (parent.childNodes.length > children.length) parent.lastChild.remove();
}

function become(old, fresh) {
  if (old instanceof Text) {
    old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (name === "style") old.style.cssText = fresh.style.cssText; // as an attribute it is forbidden
    else if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  renew(old, [...fresh.childNodes]);
}
