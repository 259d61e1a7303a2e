// Requests to the server that this page came from, with the token of this tab.

const KEY = "rechunk-token";
let kept = "";
try {
  kept = sessionStorage.getItem(KEY) ?? "";
} catch {
  // Storage is switched off: the token lasts as long as the page.
}

export const token = {
  get: () => kept,
  set(text) {
    kept = text.trim();
    try {
      if (kept) sessionStorage.setItem(KEY, kept);
      else sessionStorage.removeItem(KEY);
    } catch {
      // As above.
    }
  },
};

/** An answer that is none, in words. */
export class Trouble extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

const WORDS = {
  401: "This datastore answers only with a token: enter yours above.",
  429: "Too many requests at once. It goes on by itself in a moment.",
  503: "The server cannot answer now. Try again in a moment.",
};

/** The answer to a GET of `path`, which is relative to the page. Throws a Trouble, or AbortError. */
export async function ask(path, signal) {
  const headers = {};
  if (kept) headers.Authorization = `Bearer ${kept}`;
  let answer;
  try {
    answer = await fetch(path, { headers, signal, cache: "no-store", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble(0, "The server does not answer. Is it still running?");
  }
  if (answer.ok) return answer;
  const said = (await answer.text()).slice(0, 500);
  throw new Trouble(answer.status, WORDS[answer.status] ?? `The server refuses: ${said || answer.status}`);
}

export async function askJson(path, signal) {
  return (await ask(path, signal)).json();
}

/** The path of a data set below the page. */
export const pathOf = (id) => `datasets/${encodeURIComponent(id)}`;
