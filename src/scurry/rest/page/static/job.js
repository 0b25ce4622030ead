// A job: its heading, its tabs, and the screen with its graph.

import { facts, h, table } from "./dom.js";
import { graph } from "./graph.js";
import * as history from "./history.js";
import * as operate from "./operate.js";
import { count, span, state, time } from "./text.js";

const TABS = [
  ["", "Graph", { paths: () => [""], view: overview }],
  ["checkpoints", "Checkpoints", history.checkpoints],
  ["exceptions", "Exceptions", history.exceptions],
  ["state", "State", operate.state],
  ["operate", "Operate", operate.operations],
  ["configuration", "Configuration", history.configuration],
  ["log", "Log", history.log],
];

/** Part of the address -> screen. */
export const ROUTES = Object.fromEntries(TABS.map(([part, name, tab]) => [part, screen(part, name, tab)]));

function screen(part, name, tab) {
  const inJob = (id) => tab.paths().map((path) => `/jobs/${id}${path}`);
  const paths = (id) => [...new Set([`/jobs/${id}`, ...inJob(id)])];
  const view = (data, id) => {
    const job = data[`/jobs/${id}`];
    const own = tab.paths().map((path) => data[`/jobs/${id}${path}`]);
    const refused = own.find((one) => one.refusal);
    return [heading(job), tabs(id, part), refused ? h("p", { class: "problem" }, refused.refusal) : tab.view(job, ...own)];
  };
  return { title: () => `${name} of a job`, paths, view };
}

function heading(job) {
  return [
    h("h1", {}, job.name),
    facts({
      State: state(job.state), Mode: job["job-type"], Started: time(job["start-time"]),
      Duration: span(job.duration), Id: h("code", {}, job.jid),
    }),
  ];
}

function tabs(id, part) {
  return h("nav", { class: "tabs", "aria-label": "Job" }, TABS.map(([one, name]) => [
    h("a", { href: `#/jobs/${id}${one && `/${one}`}`, "aria-current": one === part ? "page" : null }, name), " ",
  ]));
}

function overview(job) {
  const { nodes } = job.plan;
  if (!nodes.length) return h("p", { class: "dim" }, "There is no graph: the program has not submitted the job, or never did.");
  const vertices = new Map(job.vertices.map((vertex) => [vertex.id, vertex]));
  const metric = (node, name) => vertices.get(node.id)?.metrics[name];
  const note = (node) => {
    const out = metric(node, "write-records") ?? metric(node, "read-records");
    return out === undefined ? "" : `${count(out)} records`;
  };
  return [
    h("h2", {}, "Graph"),
    graph(nodes, note),
    h("h2", {}, "Operators"),
    table("Sources and operators", [
      { title: "Name", cell: (node) => node.description },
      { title: "Kind", cell: (node) => node.operator },
      { title: "Level", cell: (node) => String(node.level), number: true },
      { title: "Subtasks", cell: (node) => String(node.parallelism), number: true },
      { title: "Records in", cell: (node) => count(metric(node, "read-records")), number: true },
      { title: "Records out", cell: (node) => count(metric(node, "write-records")), number: true },
      { title: "Late", cell: (node) => count(metric(node, "late-records")), number: true },
      { title: "Built at", cell: (node) => h("code", { title: node.built_at }, node.built_at.replace(/^.*\//, "")) },
    ], nodes, (node) => node.id),
  ];
}
