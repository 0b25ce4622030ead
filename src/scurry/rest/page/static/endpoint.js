// The process that answers: versions, settings, log.

import { facts, h, table } from "./dom.js";

export const title = () => "Endpoint";
export const paths = () => ["/config", "/jobmanager/config", "/jobmanager/log", "/session"];

export function view(data) {
  const config = data["/config"];
  const settings = data["/jobmanager/config"];
  const ui = data["/session"]["spark-ui"];  // a job has no such path
  const log = data["/jobmanager/log"];
  return [
    h("h1", {}, "Endpoint"),
    facts({
      scurry: config["scurry-version"], "Flink's API": config["flink-version"], "Time zone": config["timezone-name"],
      ...(ui ? { "Spark's own page": h("a", { href: ui, rel: "noreferrer" }, ui) } : {}),
    }),
    table("Settings", [
      { title: "Key", cell: (entry) => h("code", {}, entry.key) },
      { title: "Value", cell: (entry) => h("code", {}, entry.value) },
    ], settings.refusal ? [] : settings, (entry) => entry.key),
    h("h2", {}, "Log"),
    log.refusal ? h("p", { class: "dim" }, log.refusal) : h("pre", { tabindex: "0", "aria-label": "Log" }, log || "nothing yet"),
  ];
}
