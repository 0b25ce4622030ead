// A job: its heading, its tabs, and the screen with its graph.

import { facts, h, table } from "./dom.js";
import { graph } from "./graph.js";
import { metrics } from "./charts.js";
import * as history from "./history.js";
import * as operate from "./operate.js";
import { bytes, count, span, state, time } from "./text.js";

const TABS = [
  ["", "Graph", { paths: () => ["/subtasks"], view: overview }],
  ["metrics", "Metrics", metrics],
  ["checkpoints", "Checkpoints", history.checkpoints],
  ["exceptions", "Exceptions", history.exceptions],
  ["dead-letters", "Dead letters", history.deadLetters],
  ["sql", "SQL", history.sql],
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
      Duration: span(job.duration),
      ...(job["known-tasks"] ? { Progress: `${count(job["finished-tasks"])} of ${count(job["known-tasks"])} tasks` } : {}),
      Id: h("code", {}, job.jid),
      ...(job["spark-ui"] ? { "Spark's own page": h("a", { href: job["spark-ui"], rel: "noreferrer" }, job["spark-ui"]) } : {}),
    }),
  ];
}

function tabs(id, part) {
  return h("nav", { class: "tabs", "aria-label": "Job" }, TABS.map(([one, name]) => [
    h("a", { href: `#/jobs/${id}${one && `/${one}`}`, "aria-current": one === part ? "page" : null }, name), " ",
  ]));
}

function overview(job, known) {
  const { nodes } = job.plan;
  if (!nodes.length) return h("p", { class: "dim" }, "There is no graph: the program has not submitted the job, or never did.");
  const vertices = new Map(job.vertices.map((vertex) => [vertex.id, vertex]));
  const metric = (node, name) => vertices.get(node.id)?.metrics[name];
  const loads = new Map(known.vertices.map((vertex) => [vertex.id, load(vertex)]));
  // Operators that are chained work in the task of those that they follow.
  const busy = (node) => {
    const before = (node.inputs || []).find((input) => input.chained);
    const earlier = before && nodes.find((one) => one.id === before.id);
    return loads.get(node.id) ?? (earlier ? busy(earlier) : null);
  };
  const note = (node) => {
    const out = metric(node, "write-records") ?? metric(node, "read-records");
    return out === undefined ? "" : `${count(out)} records`;
  };
  return [
    h("h2", {}, "Graph"),
    graph(nodes, note, busy),
    h("p", { class: "dim" }, "Coloured: busy for a tenth, half and four fifths of the last minute."),
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
    h("h2", {}, "Subtasks"),
    h("p", { class: "dim" }, "The longest bar of an operator is the subtask that sends or keeps most; a skew of 0 % means that all are equal."),
    known.vertices.map((vertex) => subtasks(vertex)),
  ];
}

function subtasks(vertex) {
  const bar = (metric, label) => {
    const most = Math.max(1, ...vertex.subtasks.map((one) => one[metric] ?? 0));
    return (one) => h("meter", { min: 0, max: most, value: one[metric] ?? 0, "aria-label": label });
  };
  const known = (metric, ...columns) => (vertex.subtasks.some((one) => one[metric] !== undefined) ? columns : []);
  return h("details", { "data-key": vertex.id },
    h("summary", {}, `${vertex.name}: ${count(Math.round(vertex.rate))} records/s${busyOf(vertex)}, skew ${Math.round(vertex.skew)} %${stateOf(vertex)}`),
    table(`Subtasks of ${vertex.name}`, [
      { title: "Subtask", cell: (one) => String(one.subtask) },
      ...known("numRecordsIn", { title: "Records in", cell: (one) => count(one.numRecordsIn), number: true }),
      { title: "Records out", cell: (one) => count(one.numRecordsOut), number: true },
      { title: "Share", cell: bar("numRecordsOut", "share") },
      ...known("stateSize",
        { title: "State", cell: (one) => bytes(one.stateSize ?? 0), number: true },
        { title: "Share of state", cell: bar("stateSize", "share of state") }),
      { title: "Records/s", cell: (one) => decimal(one.numRecordsOutPerSecond), number: true },
      ...known("currentOutputWatermark",
        { title: "Watermark", cell: (one) => watermark(one.currentOutputWatermark) },
        { title: "Behind", cell: (one) => behind(one.currentOutputWatermark), number: true }),
      ...known("busyTimeMsPerSecond", { title: "Busy", cell: (one) => percent(one.busyTimeMsPerSecond), number: true }),
      ...known("backPressuredTimeMsPerSecond",
        { title: "Held back", cell: (one) => percent(one.backPressuredTimeMsPerSecond), number: true }),
    ], vertex.subtasks, (one) => one.subtask));
}

function stateOf({ state }) {
  if (!state.sum) return "";
  const times = (state.max / state.avg).toFixed(1);
  return `; state ${bytes(state.sum)}, skew ${Math.round(state.skew)} %, the largest ${times} × the mean`;
}

// The share of the last minute in which it has worked; null if that is not known.
const load = (vertex) => ((vertex.busy ?? null) === null ? null : vertex.busy / 1000);

const busyOf = (vertex) => (load(vertex) === null ? "" : `, busy ${Math.round(100 * load(vertex))} %`);

const decimal = (value) => (value === undefined ? null : value.toFixed(1));
const percent = (ms) => (ms === undefined ? null : `${Math.round(ms / 10)} %`);
const ended = (mark) => mark > 8e15;
const watermark = (mark) => (mark === undefined ? null : ended(mark) ? "end of input" : time(mark));
const behind = (mark) => (mark === undefined || ended(mark) ? null : span(Math.max(0, Date.now() - mark)));
