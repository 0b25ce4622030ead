// Requests to the endpoint, with its token, and the stream of its changes.

const KEPT = "scurry-token";

/** An answer with a status of 400 or more. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Keep the token of an address such as `#token=...`, and take it out of the address and the history. */
export function takeToken() {
  const found = /^#token=([^&]+)&?(.*)$/.exec(location.hash);
  if (!found) return;
  keepToken(decodeURIComponent(found[1]));
  history.replaceState(null, "", `${location.pathname}#${found[2] || "/jobs"}`);
}

export const keepToken = (token) => sessionStorage.setItem(KEPT, token);

const headers = () => {
  const token = sessionStorage.getItem(KEPT);
  return token ? { Authorization: `Bearer ${token}` } : {};
};

const errorsOf = (answer) => (answer && answer.errors ? answer.errors.join("\n") : "");

/** The content of an answer; text if it is not JSON. */
export async function request(method, path, body) {
  const options = { method, headers: headers(), cache: "no-store" };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  const answer = await fetch(path, options);
  const text = await answer.text();
  const json = (answer.headers.get("content-type") || "").startsWith("application/json");
  const content = json ? JSON.parse(text) : text;
  if (!answer.ok) throw new Refused(answer.status, errorsOf(content) || `HTTP status ${answer.status}`);
  return content;
}

/** Send a file as a form does; return the content of the answer. */
export async function upload(path, content, name) {
  const body = new FormData();
  body.append("jarfile", content, name);
  const answer = await fetch(path, { method: "POST", headers: headers(), cache: "no-store", body });
  const said = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, errorsOf(said) || `HTTP status ${answer.status}`);
  return said;
}

/** Status and bytes of an answer. */
export async function bytesOf(path) {
  const answer = await fetch(path, { headers: headers(), cache: "no-store" });
  if (!answer.ok) throw new Refused(answer.status, errorsOf(await answer.json()) || `HTTP status ${answer.status}`);
  return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
}

/**
 * Call `changed(path, status, content)` with the answers to paths, and again when these change, until the signal.
 * `connected(state)` is told: "live", "refused" (the token is wrong) or "gone".
 */
export async function watch(paths, changed, connected, signal) {
  const query = paths.map((path) => `path=${encodeURIComponent(path)}`).join("&");
  for (let pause = 1; !signal.aborted; pause = Math.min(2 * pause, 15)) {
    try {
      // Not an EventSource, which cannot send the token.
      const answer = await fetch(`/events?${query}`, { headers: headers(), cache: "no-store", signal });
      if (answer.status === 401) return connected("refused");
      if (!answer.ok) throw new Refused(answer.status, "the endpoint has too many watchers");
      connected("live");
      pause = 1;
      await readEvents(answer.body, changed);
    } catch (problem) {
      if (signal.aborted) return;
    }
    connected("gone");
    await new Promise((resolve) => setTimeout(resolve, pause * 1000));
  }
}

async function readEvents(body, changed) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const event of events) {
      if (!event.startsWith("data: ")) continue;
      const { path, status, body: content } = JSON.parse(event.slice(6));
      try {
        changed(path, status, content);
      } catch (mistake) {
        reportError(mistake);  // of this page; the endpoint answers
      }
    }
  }
}

/** Wait for an operation that a request has begun; return its outcome, such as `{location}`. */
export async function outcome(path) {
  for (;;) {
    const { status, operation } = await request("GET", path);
    if (status.id === "COMPLETED") {
      const cause = operation && operation["failure-cause"];
      if (cause) throw new Error(`${cause.class}: ${cause["stack-trace"]}`);
      return operation || {};
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
