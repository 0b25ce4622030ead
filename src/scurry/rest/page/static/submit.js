// Programs and SQL for a session: sent by its own paths, with the token; what they print, and rows of queries as tables.

import { bytesOf, request, upload } from "./client.js";
import { h } from "./dom.js";
import { field, form } from "./operate.js";
import { tables } from "./printed.js";

/** Most characters of a program's output that are shown: the latest. */
const SHOWN = 200_000;

export const title = () => "Submit";
export const paths = () => ["/config"];

export function view(data) {
  if (!data["/config"].features["web-submit"]) {
    return [h("h1", {}, "Submit"), h("p", {}, "This is the endpoint of one job. A session takes programs: ", h("code", {}, "scurry session start"), ".")];
  }
  return [
    h("h1", {}, "Submit"),
    h("p", { class: "warning" }, "A program and its functions run as the user of this session, on its machine: with all rights of that user, on files, networks and secrets. Whoever has the token may submit."),
    h("div", { "data-own": true, "data-key": "submit" },
      form("Program", [
        h("label", {}, "Python file, zipped project or script of SQL", h("input", { name: "file", type: "file", required: true, accept: ".py,.zip,.sql" })),
        field("arguments", "Arguments", { size: 30 }), parallelism(),
      ], "Run the program", ({ file, ...how }) => run(file, file.name, how)),
      form("SQL", [
        h("label", { class: "wide" }, "Statements, each with a semicolon at its end",
          h("textarea", { name: "statements", rows: 8, cols: 80, required: true, spellcheck: "false" })),
        parallelism(),
      ], "Run the statements", ({ statements, ...how }) => run(new Blob([ended(statements)]), "statements.sql", how))),
  ];
}

const parallelism = () => field("parallelism", "Parallelism (empty: the session's)", { type: "number", min: 1 });

const ended = (statements) => (/;\s*$/.test(statements) ? statements : `${statements.trimEnd()};\n`);

async function run(file, name, { arguments: given, parallelism: subtasks }) {
  const { filename } = await upload("/jars/upload", file, name);
  const wanted = { ...(given ? { programArgs: given } : {}), ...(subtasks ? { parallelism: Number(subtasks) } : {}) };
  const { jobid } = await request("POST", `/jars/${encodeURIComponent(filename)}/run`, wanted);
  const printed = h("div", { class: "printed", "aria-live": "off" });
  const state = h("span", {}, "starts …");
  follow(jobid, printed, state).catch((problem) => { state.textContent = problem.message; });
  return [h("span", {}, "Job ", h("a", { href: `#/jobs/${jobid}` }, jobid), " ", state), printed];
}

// Until the program has ended, or the page shows something else.
async function follow(id, printed, state) {
  const decoder = new TextDecoder();
  for (let offset = 0, text = ""; ;) {
    const { status, bytes } = await bytesOf(`/jobs/${id}/output?offset=${offset}`);
    if (status === 204) break;
    if (bytes.length) {
      offset += bytes.length;
      text = (text + decoder.decode(bytes, { stream: true })).slice(-SHOWN);
      printed.replaceChildren(...tables(text));
    } else {
      state.textContent = "runs …";
      await new Promise((resolve) => setTimeout(resolve, 500));
      if (!printed.isConnected) return;
    }
  }
  const { state: how } = await request("GET", `/jobs/${id}`);
  state.textContent = how;
  state.className = `state ${how === "FINISHED" ? "good" : "bad"}`;
  if (how !== "FAILED") return;
  const { exceptionHistory } = await request("GET", `/jobs/${id}/exceptions`);
  const [latest] = exceptionHistory.entries;
  if (latest) printed.append(h("pre", { tabindex: "0", role: "alert", "aria-label": "Failure" }, latest.stacktrace));
}
