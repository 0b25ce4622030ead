// The list of jobs.

import { h, table } from "./dom.js";
import { span, state, time } from "./text.js";

export const title = () => "Jobs";
export const paths = () => ["/jobs/overview"];

export function view(data) {
  const { jobs } = data["/jobs/overview"];
  const running = jobs.filter((job) => job["end-time"] < 0);
  const over = jobs.filter((job) => job["end-time"] >= 0);
  return [
    h("h1", {}, "Jobs"),
    table("Running jobs", columns, running, (job) => job.jid),
    table("Jobs that are over", columns, over, (job) => job.jid),
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
