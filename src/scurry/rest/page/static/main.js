// What is shown for an address: a screen has `title(id)`, `paths(id)` and `view(data, id)`.

import { keepToken, takeToken, watch } from "./client.js";
import { h, show } from "./dom.js";
import * as endpoint from "./endpoint.js";
import { ROUTES } from "./job.js";
import * as jobs from "./jobs.js";
import * as submit from "./submit.js";

const main = document.getElementById("main");
const connection = document.getElementById("connection");
let leaving = new AbortController();
let renderAgain = null;

function screenOf(address) {
  const parts = address.replace(/^#\/?/, "").split("/");
  if (parts[0] === "endpoint") return [endpoint, null];
  if (parts[0] === "submit") return [submit, null];
  if (parts[0] === "jobs" && /^[0-9a-f]{32}$/.test(parts[1] || "")) return [ROUTES[parts[2] || ""] || ROUTES[""], parts[1]];
  return [jobs, null];
}

function open(event) {
  takeToken();
  if (location.hash === "#main") return main.focus();
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [screen, id] = screenOf(location.hash);
  document.title = `${screen.title(id)} – scurry`;
  for (const link of document.querySelectorAll("header nav a")) {
    const current = link.hash.slice(2) === location.hash.slice(2).split("/")[0];
    current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  main.replaceChildren(h("p", { class: "dim" }, "Loading …"));
  if (event) main.focus();
  const data = {};
  renderAgain = null;
  const wanted = screen.paths(id);
  watch(wanted, (path, status, content) => {
    data[path] = status < 400 ? content : { refusal: (content.errors || []).join("\n") || `HTTP status ${status}` };
    renderAgain = () => render(screen, data, id, wanted[0]);
    if (wanted.every((one) => one in data)) renderAgain();
    else renderAgain = null;
  }, (how) => connected(how, signal), signal);
}

function render(screen, data, id, first) {
  const refusal = data[first].refusal;
  show(main, refusal ? h("p", { class: "problem", role: "alert" }, refusal) : screen.view(data, id));
}

function connected(how, signal) {
  if (signal.aborted) return;
  const texts = { live: "● live", gone: "○ the endpoint does not answer: shown is what it said last", refused: "○ token needed" };
  connection.textContent = texts[how];
  if (how === "refused") askForToken();
}

function askForToken() {
  const field = h("input", { id: "token", type: "password", autocomplete: "off", required: true, size: 50 });
  const submit = (event) => {
    event.preventDefault();
    keepToken(field.value.trim());
    open(event);
  };
  main.replaceChildren(
    h("h1", {}, "Token"),
    h("p", {}, "This endpoint answers to clients that know its token. ", h("code", {}, "scurry token JOB"), " or ",
      h("code", {}, "scurry session token"), " prints it. It stays in this tab."),
    h("form", { class: "inline", onsubmit: submit },
      h("label", { for: "token" }, "Token", field), h("button", { type: "submit" }, "Open")));
  field.focus();
}

document.getElementById("zone").textContent = `Times are those of ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;
document.addEventListener("again", () => renderAgain && renderAgain());
addEventListener("hashchange", open);
open();
