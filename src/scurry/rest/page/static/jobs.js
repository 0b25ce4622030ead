// The list of jobs, and of the programs that a session runs by a schedule.

import { h, table } from "./dom.js";
import { span, state, time } from "./text.js";

export const title = () => "Jobs";
export const paths = () => ["/jobs/overview", "/workflows"];

export function view(data) {
  const { jobs } = data["/jobs/overview"];
  const running = jobs.filter((job) => job["end-time"] < 0);
  const over = jobs.filter((job) => job["end-time"] >= 0);
  return [
    h("h1", {}, "Jobs"),
    table("Running jobs", columns, running, (job) => job.jid),
    table("Jobs that are over", columns, over, (job) => job.jid),
    schedules(data["/workflows"].workflows ?? []),  // a job has no such path
  ];
}

const columns = [
  { title: "Name", cell: (job) => h("a", { href: `#/jobs/${job.jid}` }, job.name) },
  { title: "State", cell: (job) => state(job.state) },
  { title: "Started", cell: (job) => time(job["start-time"]) },
  { title: "Duration", cell: (job) => span(job.duration), number: true },
  { title: "Tasks", cell: (job) => String(job.tasks.total ?? 0), number: true },
  { title: "Id", cell: (job) => h("code", {}, job.jid) },
];

function schedules(workflows) {
  return workflows.length ? table("Schedules", ofWorkflows, workflows, (workflow) => workflow.id) : null;
}

const every = ({ number, unit }) => `${number} ${unit.toLowerCase()}${number === 1 ? "" : "s"}`;

function lastState(workflow) {
  if (workflow.suspended) return state("SUSPENDED");
  return workflow.job_id ? state(workflow.state || "RUNNING") : null;
}

const lastRun = ({ job_id: job, name }) => (job ? h("a", { href: `#/jobs/${job}` }, name) : name);

const ofWorkflows = [
  { title: "Name", cell: lastRun },
  { title: "Every", cell: every },
  { title: "State", cell: lastState },
  { title: "Last success", cell: (workflow) => time(workflow.finished_ms) },
  { title: "Next", cell: (workflow) => time(workflow.next_ms) },
  { title: "Skipped", cell: (workflow) => String(workflow.skipped), number: true },
  { title: "Error", cell: (workflow) => workflow.reason || null },
];
