// The prompt for `read-token`. What is typed is kept as long as the tab.

import { h } from "../lib/dom.js";

let open = null;

export function askForToken(wasWrong) {
  open ??= ask(wasWrong).finally(() => (open = null));
  return open;
}

function ask(wasWrong) {
  return new Promise((resolve) => {
    const input = h("input", {
      type: "password",
      id: "token",
      autocomplete: "current-password",
      pattern: "[!-~]+", // a header takes nothing else
      required: true,
    });
    const dialog = h(
      "dialog",
      { class: "prompt", "aria-labelledby": "token-title" },
      h(
        "form",
        { method: "dialog" },
        h("h2", { id: "token-title" }, "A token is needed"),
        h(
          "p",
          null,
          wasWrong
            ? "That was not it."
            : "The administrator of this Warren has it: it is the server’s read-token.",
        ),
        h("label", { for: "token" }, "Token"),
        input,
        h("button", { type: "submit" }, "Go on"),
      ),
    );
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(input.value);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
