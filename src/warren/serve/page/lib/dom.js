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

// A name from a cluster; `bdi` isolates its direction of writing from ours. Where it is cut, the
// hover has the whole.
export function named(name) {
  return h("bdi", { class: "name", title: name || null }, name);
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
