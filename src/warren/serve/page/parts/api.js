// Everything asked of Warren: answers, the stream that tells when to ask again, the token it takes.

import { h } from "../lib/dom.js";
import { forTheTab } from "../lib/storage.js";

const TOKEN = "warren-token";
const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const POLL_MS = 5_000;
const LONGEST_ANSWER_MS = 60_000; // history takes half of it at most
const LONGEST_SILENCE_MS = 45_000; // of a stream that says every 15 s that it lives

export class Missing extends Error {}

let ahead = 0; // of the server's clock before the reader's, in milliseconds

// The time it is for Warren: what it tells is not to be measured by another clock.
export const serverNow = () => Date.now() + ahead;

function learnTime(response) {
  const told = Date.parse(response.headers.get("date") ?? "");
  // The header tells whole seconds: a difference below one is none.
  if (told) ahead = Math.abs(told - Date.now()) < 2000 ? 0 : told - Date.now();
}

// With `omit` a browser does not put its own log-in window over the page's.
async function request(path, signal) {
  for (;;) {
    const token = forTheTab.get(TOKEN);
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const response = await fetch(path, {
      headers,
      signal: signal ?? AbortSignal.timeout(LONGEST_ANSWER_MS),
      credentials: "omit",
      cache: "no-store",
    });
    learnTime(response);
    if (response.status !== 401) return response;
    const isOld = forTheTab.get(TOKEN) !== token; // another request has asked meanwhile
    if (!isOld) forTheTab.set(TOKEN, await askForToken(Boolean(token)));
  }
}

export async function get(path, parameters) {
  const query = parameters ? `?${new URLSearchParams(parameters)}` : "";
  const response = await request(path + query);
  if (response.ok) return response.json();
  const { message } = await response.json().catch(() => ({ message: "" }));
  const text = message || `${path}: ${response.status}`;
  throw response.status === 404 ? new Missing(text) : new Error(text);
}

export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Calls `told(kind, data)` for every event, `changed(state)` when the stream comes or goes.
export async function follow(told, changed) {
  let delay = SHORTEST_WAIT_MS;
  const heard = (kind, data) => {
    delay = SHORTEST_WAIT_MS;
    told(kind, data);
  };
  for (;;) {
    while (document.hidden) await turned();
    try {
      await listen(heard, () => changed("live"));
    } catch (error) {
      if (document.hidden) continue;
      const isFull = error.message === "429";
      changed(isFull ? "polling" : "lost");
      // Many pages lose a server at the same moment; they are not to come back at the same moment.
      await wait(isFull ? POLL_MS : delay * (0.5 + Math.random()));
      if (isFull) told("board", null);
      delay = Math.min(delay * 2, LONGEST_WAIT_MS);
    }
  }
}

const turned = () =>
  new Promise((resolve) => addEventListener("visibilitychange", resolve, { once: true }));

// Until the stream ends. A page that nobody sees gives it up: a browser has six connections to a
// server, and with six such pages the seventh would get no answer at all.
async function listen(told, began) {
  const end = new AbortController();
  const leave = () => document.hidden && end.abort();
  let alarm = 0;
  const heard = () => {
    clearTimeout(alarm);
    alarm = setTimeout(() => end.abort(), LONGEST_SILENCE_MS);
  };
  addEventListener("visibilitychange", leave);
  try {
    heard();
    const response = await request("/v4/events?boards=true", end.signal);
    if (!response.ok) throw new Error(String(response.status));
    began();
    for await (const [kind, data] of events(response.body, heard)) told(kind, data);
    throw new Error("it ended");
  } finally {
    clearTimeout(alarm);
    removeEventListener("visibilitychange", leave);
  }
}

async function* events(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    heard();
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const lines = new Map(part.split("\n").map((line) => split(line)));
      if (lines.has("data")) yield [lines.get("event"), JSON.parse(lines.get("data"))];
    }
  }
}

function split(line) {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}

// The prompt for `read-token`: one for all requests that wait for it. What is typed is kept as long
// as the tab.
let openPrompt = null;

function askForToken(wasWrong) {
  openPrompt ??= showPrompt(wasWrong).finally(() => (openPrompt = null));
  return openPrompt;
}

function showPrompt(wasWrong) {
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
