// Dark or light: as the system says until somebody chooses, then as chosen.

import { forGood } from "./storage.js";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

export function showTheme(button, changed) {
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const draw = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `${button.textContent} theme`);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    forGood.set("warren-theme", root.dataset.theme);
    draw();
    changed();
  });
  system.addEventListener("change", () => {
    draw();
    changed();
  });
  printLight(changed);
  draw();
}

// Paper is white: canvases, which keep their colours, are drawn again for it.
function printLight(changed) {
  let chosen = null;
  addEventListener("beforeprint", () => {
    chosen = root.dataset.theme ?? "";
    root.dataset.theme = "light";
    changed();
  });
  addEventListener("afterprint", () => {
    if (chosen) root.dataset.theme = chosen;
    else delete root.dataset.theme;
    changed();
  });
}

// The current value of a colour in the style sheet: a canvas cannot use its name.
export function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
