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

const two = (number) => String(number).padStart(2, "0");

/** The time of day of this browser's zone. */
export function clock(ms) {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** A moment in this browser's zone; its title is UTC. */
export function time(ms) {
  if (ms === null || ms === undefined || ms < 0) return null;
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return String(ms);
  const utc = at.toISOString();
  return h("time", { datetime: utc, title: utc.replace("T", " ").replace(/\.\d+Z$/, " UTC") },
    `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(ms)}`);
}

const GOOD = new Set(["RUNNING", "FINISHED", "COMPLETED"]);
const BAD = new Set(["FAILED", "FAILING"]);

export const state = (name) =>
  h("span", { class: `state ${GOOD.has(name) ? "good" : BAD.has(name) ? "bad" : "warn"}` }, name);
