// All requests to Warren: answers, the stream of events, and the token they need.

import { h } from "../lib/dom.js";
import { forTheTab } from "../lib/storage.js";

const TOKEN = "warren-token";
const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const POLL_MS = 5_000;
const LONGEST_ANSWER_MS = 60_000; // history takes half of it at most
const LONGEST_SILENCE_MS = 45_000; // the stream sends a keep-alive every few seconds

export class Missing extends Error {}
export class Refused extends Error {} // the same request is refused again

const ERRORS = { 400: Refused, 404: Missing };

let ahead = 0; // of the reader's clock, in milliseconds

// The time on Warren's clock: ages of its data are measured by the same clock.
export const serverNow = () => Date.now() + ahead;

function learnTime(response) {
  const serverMs = Date.parse(response.headers.get("date") ?? "");
  // The header has whole seconds, so a small difference counts as none.
  if (serverMs) ahead = Math.abs(serverMs - Date.now()) < 2000 ? 0 : serverMs - Date.now();
}

// With `omit` the browser does not show its own log-in window over ours.
async function request(path, signal, change = {}) {
  for (;;) {
    const token = forTheTab.get(TOKEN);
    const headers = { ...change.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const response = await fetch(path, {
      ...change,
      headers,
      signal: signal ?? AbortSignal.timeout(LONGEST_ANSWER_MS),
      credentials: "omit",
      cache: "no-store",
    });
    learnTime(response);
    if (response.status !== 401) return response;
    const isOld = forTheTab.get(TOKEN) !== token; // another request has got a new token meanwhile
    if (isOld) continue;
    const given = await askForToken(Boolean(token), Boolean(change.method));
    if (given === null) throw new Error("nothing was changed, as no token was given");
    forTheTab.set(TOKEN, given);
  }
}

export const hasToken = () => Boolean(forTheTab.get(TOKEN));

export async function get(path, parameters) {
  const query = parameters ? `?${new URLSearchParams(parameters)}` : "";
  return answerOf(path, await request(path + query));
}

// A change, which needs a token with the right to it where there is one.
export async function send(method, path, body) {
  const headers = { "content-type": "application/json" };
  const change = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
  return answerOf(path, await request(path, undefined, change));
}

async function answerOf(path, response) {
  if (response.ok) return response.json();
  const { message } = await response.json().catch(() => ({ message: "" }));
  const text = message || `${path}: ${response.status}`;
  throw new (ERRORS[response.status] ?? Error)(text);
}

export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Calls `onEvent(kind, data)` for every event, `onStream(state)` when the stream opens or ends.
export async function follow(onEvent, onStream) {
  let delay = SHORTEST_WAIT_MS;
  const heard = (kind, data) => {
    delay = SHORTEST_WAIT_MS;
    onEvent(kind, data);
  };
  for (;;) {
    while (document.hidden) await turned();
    try {
      await listen(heard, () => onStream("live"));
    } catch (error) {
      if (document.hidden) continue;
      const isFull = error.message === "429";
      onStream(isFull ? "polling" : "lost");
      // When a server goes, many pages lose it at once; they must not all return at once.
      await wait(isFull ? POLL_MS : delay * (0.5 + Math.random()));
      if (isFull) onEvent("board", null);
      delay = Math.min(delay * 2, LONGEST_WAIT_MS);
    }
  }
}

const turned = () =>
  new Promise((resolve) => addEventListener("visibilitychange", resolve, { once: true }));

// Returns when the stream ends. A hidden page closes it: a browser has six connections to a
// server, and with six such pages the seventh would get no answer.
async function listen(onEvent, onOpen) {
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
    onOpen();
    for await (const [kind, data] of events(response.body, heard)) onEvent(kind, data);
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

// The prompt for a token: one for all requests that wait for it. The token is kept until the tab is
// closed. A change can be given up; without the token to read there is no page.
let openPrompt = null;

function askForToken(wasWrong, isChange) {
  openPrompt ??= showPrompt(wasWrong, isChange).finally(() => (openPrompt = null));
  return openPrompt;
}

function aboutToken(wasWrong, isChange) {
  if (isChange) return "This needs the server’s silence-token, or its write-token.";
  return wasWrong
    ? "That was not it."
    : "The administrator of this Warren has it: it is the server’s read-token.";
}

function showPrompt(wasWrong, isChange) {
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
          aboutToken(wasWrong, isChange),
        ),
        h("label", { for: "token" }, "Token"),
        input,
        h("button", { type: "submit", value: "given" }, "Go on"),
        isChange ? h("button", { type: "submit", formnovalidate: true }, "Cancel") : null,
      ),
    );
    dialog.addEventListener("cancel", (event) => isChange || event.preventDefault());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "given" ? input.value : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
