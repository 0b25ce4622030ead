// Numbers, times and states as people read them.

import { h } from "./dom.js";

export const count = (value) => (value === null || value === undefined ? null : Number(value).toLocaleString("en"));

export function bytes(value) {
  if (value === null || value === undefined || value < 0) return null;
  for (const unit of ["bytes", "kB", "MB"]) {
    if (value < 1000) return `${value >= 100 || unit === "bytes" ? Math.round(value) : value.toFixed(1)} ${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(1)} GB`;
}

export function span(ms) {
  if (ms === null || ms === undefined || ms < 0) return null;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
}

export function time(ms) {
  if (ms === null || ms === undefined || ms < 0) return null;
  const moment = new Date(ms);
  return Number.isNaN(moment.getTime()) ? String(ms) : h("time", { datetime: moment.toISOString() },
    moment.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC"));
}

const GOOD = new Set(["RUNNING", "FINISHED", "COMPLETED"]);
const BAD = new Set(["FAILED", "FAILING"]);

export const state = (name) =>
  h("span", { class: `state ${GOOD.has(name) ? "good" : BAD.has(name) ? "bad" : "warn"}` }, name);
