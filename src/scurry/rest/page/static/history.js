// What has happened to a job: micro-batches, failures, its log; and what it was configured to be.

import { facts, h, paged, table } from "./dom.js";
import { bytes, count, span, state, time } from "./text.js";

export const checkpoints = {
  paths: () => ["/checkpoints", "/checkpoints/config"],
  view: (job, known, config) => {
    const { rows, controls } = paged(`checkpoints of ${job.jid}`, known.history);
    return [
      facts({
        Completed: count(known.counts.completed), Restored: count(known.counts.restored),
        "Shortest, mean, longest": [known.summary.end_to_end_duration].map((one) => `${span(one.min)}, ${span(one.avg)}, ${span(one.max)}`)[0],
        "State backend": config.state_backend, Directory: h("code", {}, config.checkpoint_storage),
      }),
      h("h2", {}, "Durations"),
      bars(known.history),
      phases(known.history),
      table("The latest checkpoints: committed micro-batches", [
        { title: "Batch", cell: (one) => String(one.id) },
        { title: "State", cell: (one) => state(one.status) },
        { title: "Begun", cell: (one) => time(one.trigger_timestamp) },
        { title: "Duration", cell: (one) => span(one.end_to_end_duration), number: true },
        { title: "Phases", cell: (one) => longest(one.phases) },
        { title: "State size", cell: (one) => bytes(one.state_size), number: true },
      ], rows, (one) => one.id),
      controls,
    ];
  },
};

// The phases that take time, the longest first; all of them in the title.
function longest(phases) {
  const all = Object.entries(phases);
  if (!all.length) return null;
  const text = (some) => some.map(([phase, ms]) => `${phase} ${span(ms)}`).join(", ");
  const most = Math.max(...all.map(([, ms]) => ms));
  return h("span", { title: text(all) }, text(all.filter(([, ms]) => ms >= most / 20).sort((a, b) => b[1] - a[1])));
}

function bars(history) {
  const shown = history.slice(0, 60).reverse();
  const longest = Math.max(1, ...shown.map((one) => one.end_to_end_duration));
  const label = shown.length ? `The last ${shown.length} micro-batches; the longest took ${span(longest)}` : "No micro-batch yet";
  return h("svg", { class: "bars", viewBox: "0 0 600 80", width: 600, height: 80, role: "img", "aria-label": label },
    shown.map((one, index) => {
      const height = Math.max(1, (76 * one.end_to_end_duration) / longest);
      return h("rect", { x: index * 10, y: 80 - height, width: 8, height },
        h("title", {}, `batch ${one.id}: ${span(one.end_to_end_duration)}`));
    }));
}

// What the time went to, over all batches that are shown: a bar with a part for each phase, and its figures as text.
function phases(history) {
  const totals = new Map();
  for (const one of history) {
    for (const [phase, ms] of Object.entries(one.phases)) totals.set(phase, (totals.get(phase) || 0) + ms);
  }
  const all = [...totals.values()].reduce((sum, ms) => sum + ms, 0);
  if (!all) return null;
  return table("Durations by phase, over these batches", [
    { title: "Phase", cell: ([phase]) => phase },
    { title: "Share", cell: ([phase, ms]) => h("meter", { min: 0, max: all, value: ms, "aria-label": `share of ${phase}` }) },
    { title: "%", cell: ([, ms]) => String(Math.round((100 * ms) / all)), number: true },
    { title: "Mean", cell: ([, ms]) => span(ms / history.length), number: true },
  ], [...totals], ([phase]) => phase);
}

export const deadLetters = {
  paths: () => ["/dead-letters"],
  view: (job, { count: all, entries }) => [
    h("p", {}, `${count(all)} records went to dead letters; below are samples of the latest.`),
    table("Samples, the latest first", [
      { title: "Time", cell: (one) => time(one.timestamp) },
      { title: "Operator", cell: (one) => `${one.operator} (${one.subtask})` },
      { title: "Record", cell: (one) => h("code", {}, one.record) },
      { title: "Error", cell: (one) => `${one.error}: ${one.message}` },
      { title: "Read from", cell: (one) => one.place && [one.place, one.line].filter((part) => part !== null).join(", line ") },
    ], entries),
  ],
};

export const sql = {
  paths: () => ["/sql"],
  view: (job, tables) => (tables.plan ? [
    h("h2", {}, "Statements"),
    tables.sql ? h("pre", { tabindex: "0", "aria-label": "Statements" }, tables.sql)
      : h("p", { class: "dim" }, "None: the program uses the Table API."),
    h("h2", {}, "Execution plan"),
    h("pre", { tabindex: "0", "aria-label": "Execution plan" }, tables.plan),
  ] : h("p", { class: "dim" }, "This job computes no tables.")),
};

export const exceptions = {
  paths: () => ["/exceptions"],
  view: (job, known) => {
    const { entries } = known.exceptionHistory;
    if (!entries.length) return h("p", { class: "dim" }, "No failure.");
    return entries.map((one) => h("article", { "data-key": one.timestamp },
      h("h2", {}, one.exceptionName, one.taskName ? ` in ${one.taskName}` : ""),
      h("p", {}, time(one.timestamp)),
      h("pre", { tabindex: "0", "aria-label": "Failure, the user's part first" }, one.stacktrace)));
  },
};

export const configuration = {
  paths: () => ["/config"],
  view: (job, config) => {
    const own = config["execution-config"];
    return [
      facts({ Mode: own["execution-mode"], Parallelism: String(own["job-parallelism"]), "Restart strategy": own["restart-strategy"] }),
      table("Settings of the job", [
        { title: "Key", cell: ([key]) => h("code", {}, key) },
        { title: "Value", cell: ([, value]) => h("code", {}, value) },
      ], Object.entries(own["user-config"]).sort(), ([key]) => key),
    ];
  },
};

export const log = {
  paths: () => ["/log"],
  view: (job, { entries }) => table("The latest events", [
    { title: "Time", cell: (one) => time(one.timestamp) },
    { title: "Level", cell: (one) => one.level },
    { title: "Event", cell: (one) => one.event },
    { title: "Message", cell: (one) => one.message },
  ], entries, (one) => `${one.timestamp} ${one.message}`),
};
