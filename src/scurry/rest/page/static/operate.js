// Savepoints, stopping, rescaling and cancelling a job; and the state of its keys.

import { outcome, request } from "./client.js";
import { h } from "./dom.js";

/** Let a form send a request; its outcome is announced below it. */
export function form(title, fields, label, send, danger = false) {
  const said = h("div", { role: "status", "aria-live": "polite" });
  const button = h("button", { type: "submit", class: danger ? "danger" : null }, label);
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    said.className = "";
    said.textContent = "…";
    try {
      said.replaceChildren(...[await send(Object.fromEntries(new FormData(event.target)))].flat());
    } catch (problem) {
      said.className = "problem";
      said.textContent = problem.message;
    } finally {
      button.disabled = false;
    }
  };
  return h("section", {}, h("h2", {}, title), h("form", { class: "inline", onsubmit: submit }, fields, button), said);
}

export const field = (name, label, attributes = {}) => h("label", {}, label, h("input", { name, ...attributes }));
const tick = (name, label) => h("label", {}, h("span", {}, label), h("input", { name, type: "checkbox" }));

export const operations = {
  paths: () => [],
  view: (job) => {
    const path = `/jobs/${job.jid}`;
    // The forms are made once: what is typed stays while the rest of the page changes.
    return h("div", { "data-own": true, "data-key": job["end-time"] < 0 ? "running" : "over" }, job["end-time"] < 0 ? forms(job, path) : "The job is over.");
  },
};

function forms(job, path) {
  const directory = () => field("directory", "Directory (empty: state.savepoints.dir)", { size: 40 });
  const saved = async (answer) => ["Savepoint: ", h("code", {}, (await outcome(`${path}/savepoints/${answer["request-id"]}`)).location)];
  return [
    form("Savepoint", directory(), "Take a savepoint", async ({ directory: where }) =>
      saved(await request("POST", `${path}/savepoints`, { "target-directory": where || null }))),
    form("Stop", [directory(), tick("drain", "Drain: end event time first")], "Stop with a savepoint", async ({ directory: where, drain }) =>
      saved(await request("POST", `${path}/stop`, { targetDirectory: where || null, drain: Boolean(drain) }))),
    form("Rescale", field("parallelism", "Parallelism", { type: "number", min: 1, max: job.maxParallelism, required: true }),
      "Rescale", async ({ parallelism }) => {
        const answer = await request("PATCH", `${path}/rescaling?parallelism=${parallelism}`);
        await outcome(`${path}/rescaling/${answer["request-id"]}`);
        return `The job runs with parallelism ${parallelism}.`;
      }),
    form("Cancel", tick("sure", "Yes, cancel it without a savepoint"), "Cancel the job", async ({ sure }) => {
      if (!sure) throw new Error("Say that you mean it.");
      await request("PATCH", `${path}?mode=cancel`);
      return "The job ends with its micro-batch.";
    }, true),
  ];
}

export const state = {
  paths: () => [],
  view: (job) => h("div", { "data-own": true, "data-key": "state" },
    form("Value of a key", [
      field("uid", "Operator (uid or name)", { required: true, list: "uids" }),
      h("datalist", { id: "uids" }, job.vertices.map((vertex) => h("option", { value: vertex.uid }))),
      field("name", "State", { required: true }),
      field("key", 'Key, as JSON: 42, "42", [1, "a"]; other text is a string', { required: true, size: 40 }),
    ], "Look up", async ({ uid, name, key }) => {
      const target = `/jobs/${job.jid}/state/${encodeURIComponent(uid)}/${encodeURIComponent(name)}?key=${encodeURIComponent(key)}`;
      const { value } = await request("GET", target);
      return ["After the last micro-batch: ", h("code", {}, JSON.stringify(value))];
    })),
};
