// A button that opens a small panel; Escape, or a click elsewhere, closes it.

import { h } from "./dom.js";

export function menu(label, ...content) {
  const element = h(
    "details",
    { class: "menu", ontoggle: () => element.open && place() },
    h("summary", null, label),
    h("div", { class: "panel" }, ...content),
  );
  const panel = element.lastChild;

  // On the side on which there is room.
  function place() {
    panel.classList.remove("leftwards");
    panel.classList.toggle("leftwards", panel.getBoundingClientRect().right > innerWidth - 8);
  }

  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    event.stopPropagation();
    element.open = false;
    element.firstChild.focus();
  });
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !element.contains(relatedTarget)) element.open = false;
  });
  document.addEventListener("pointerdown", (event) => {
    if (element.open && element.isConnected && !element.contains(event.target)) element.open = false;
  });
  return element;
}
