// The metrics of a job over the last hour: lines over time, with their values at the pointer, by keys and as a table.

import { again, h, paged, table } from "./dom.js";
import { bytes, clock, count, span, time } from "./text.js";

const HEIGHT = 170, LEFT = 64, RIGHT = 12, TOP = 10, BOTTOM = 24;
const NARROW = matchMedia("(max-width: 40rem)");
const wide = () => (NARROW.matches ? 370 : 640);
const END = 8e15;  // of event time

/** What the charts show of `/history`: one line each. */
function charts(known) {
  const { timestamps: at } = known;
  const steps = at.map((_, index) => Math.max(0, index - 1));
  const rate = (values) => values.map((value, index) => {
    const before = steps[index];
    return index === before ? null : (Math.max(0, value - values[before]) * 1000) / Math.max(1, at[index] - at[before]);
  });
  const delay = known.watermark.map((mark, index) => (mark === null || mark > END || mark < -END ? null : Math.max(0, at[index] - mark)));
  const mean = (spent) => {
    let latest = null;
    return spent.map((ms, index) => {
      // The first point has the mean since the start.
      const [earlier, before] = index ? [known.batches[index - 1], spent[index - 1]] : [0, 0];
      if (known.batches[index] > earlier) latest = (ms - before) / (known.batches[index] - earlier);
      return latest;
    });
  };
  const percent = (values) => values.map((value) => (value === null ? null : value / 10));
  const perSecond = (value) => `${count(Number(value.toPrecision(4)))}/s`;
  const share = (value) => `${Math.round(value)} %`;
  return [
    { title: "Throughput", unit: "records per second", text: perSecond, lines: [["in", rate(known["records-in"])], ["out", rate(known["records-out"])]] },
    { title: "Lag", unit: "records left to read", text: (value) => count(Math.round(value)), lines: [["pending", known["pending-records"]]] },
    { title: "Lag in bytes", unit: "bytes left to read", text: bytes, lines: [["pending", known["pending-bytes"]]] },
    { title: "Watermark delay", unit: "how far event time is behind the clock", text: span, lines: [["delay", delay]] },
    { title: "Back pressure and load", unit: "share of the last minute", text: share, most: 100,
      lines: [["held back", percent(known["back-pressure"])], ["busiest operator", percent(known.busy)]] },
    { title: "Micro-batches", unit: "mean time in each phase", text: span, lines: Object.entries(known.phases).map(([name, spent]) => [name, mean(spent)]) },
    { title: "State", unit: "all keys, values and timers", text: bytes, lines: [["state", known["state-size"]]] },
  ].map((chart) => ({ ...chart, lines: chart.lines.filter(([, values]) => values.some((value) => value !== null)) }))
    .filter((chart) => chart.lines.length);
}

// The point that is looked at, in all charts; null: the latest.
let looked = null;

export const metrics = {
  paths: () => ["/history"],
  view: (job, known) => {
    const { timestamps: at } = known;
    if (at.length < 2) return h("p", { class: "dim" }, "The first values come within some seconds.");
    const shown = charts(known);
    const index = looked === null ? at.length - 1 : nearest(at, looked);
    return [
      h("p", { class: "dim" }, `Every ${span(known.interval)}, since ${clock(at[0])}. Point at a chart, or use the arrow keys in it, for earlier values; Escape returns to the latest.`),
      h("div", { class: "charts" }, shown.map((chart) => figure(chart, at, index))),
      values(job, known, shown),
    ];
  },
};

function nearest(at, wanted) {
  let best = 0;
  at.forEach((one, index) => { if (Math.abs(one - wanted) < Math.abs(at[best] - wanted)) best = index; });
  return best;
}

function figure(chart, at, index) {
  const most = chart.most ?? nice(Math.max(...chart.lines.flatMap(([, values]) => values.filter((value) => value !== null))));
  const WIDTH = wide(), from = at[0], long = Math.max(1, at[at.length - 1] - from);
  const x = (moment) => LEFT + ((moment - from) * (WIDTH - LEFT - RIGHT)) / long;
  const y = (value) => HEIGHT - BOTTOM - (Math.min(value, most) * (HEIGHT - TOP - BOTTOM)) / most;
  const said = chart.lines.map(([name, values]) => `${name} ${values[index] === null ? "–" : chart.text(values[index])}`);
  // The moments that the chart has when something is asked of it, not when it was made.
  const look = (moment) => { looked = moment; again(); };
  const moments = (event) => event.currentTarget.dataset.at.split(" ").map(Number);
  const point = (event) => {
    const box = event.currentTarget.getBoundingClientRect(), known = moments(event);
    const share = ((event.clientX - box.left) * wide()) / box.width - LEFT;
    look(known[0] + (share * (known[known.length - 1] - known[0])) / (wide() - LEFT - RIGHT));
  };
  const press = (event) => {
    const known = moments(event), present = looked === null ? known.length - 1 : nearest(known, looked);
    const to = { ArrowLeft: present - 1, ArrowRight: present + 1, PageUp: present - 10, PageDown: present + 10, Home: 0 }[event.key];
    if (event.key === "Escape" || event.key === "End") look(null);
    else if (to !== undefined) look(known[Math.max(0, Math.min(known.length - 1, to))]);
    else return;
    event.preventDefault();
  };
  return h("figure", { "data-key": chart.title },
    h("figcaption", {}, h("h2", {}, chart.title), h("span", { class: "dim" }, ` ${chart.unit}`)),
    h("svg", {
      class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: "0", role: "slider", "aria-label": chart.title,
      "aria-valuemin": 0, "aria-valuemax": at.length - 1, "aria-valuenow": index,
      "aria-valuetext": `${clock(at[index])}: ${said.join(", ")}`, "data-at": at.join(" "),
      onpointerdown: point, onpointermove: point, onpointerleave: () => look(null), onkeydown: press,
    },
    [0, most / 2, most].map((value) => [
      h("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      h("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, chart.text(value)),
    ]),
    [0, 0.5, 1].map((share) => h("text", {
      x: x(from + share * long), y: HEIGHT - 6, "text-anchor": ["start", "middle", "end"][2 * share],
    }, clock(from + share * long))),
    chart.lines.map(([, values], number) => runs(values).map((run) => h("polyline", {
      class: `line-${number % 7}`, points: run.map((one) => `${x(at[one]).toFixed(1)},${y(values[one]).toFixed(1)}`).join(" "),
    }))),
    h("line", { class: "cursor", x1: x(at[index]), x2: x(at[index]), y1: TOP, y2: HEIGHT - BOTTOM })),
    h("p", { class: "values" }, h("span", { class: "at" }, clock(at[index])), chart.lines.map(([name], number) =>
      h("span", {}, h("svg", { class: "key", width: 22, height: 10, viewBox: "0 0 22 10", "aria-hidden": "true" },
        h("line", { class: `line-${number % 7}`, x1: 0, x2: 22, y1: 5, y2: 5 })), ` ${said[number]}`))));
}

// The indices of values, without gaps.
function runs(values) {
  const found = [[]];
  values.forEach((value, index) => {
    if (value !== null) found[found.length - 1].push(index);
    else if (found[found.length - 1].length) found.push([]);
  });
  return found.filter((run) => run.length);
}

// The next number of 1, 2, 5, 10, ...
function nice(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((one) => one * power >= value * (1 - 1e-9));
}

function values(job, known, shown) {
  const newest = known.timestamps.map((_, index) => known.timestamps.length - 1 - index);
  const { rows, controls } = paged(`history of ${job.jid}`, newest);
  const cell = (text, list) => (index) => (list[index] === null ? null : text(list[index]));
  return h("details", { "data-key": "values" }, h("summary", {}, "All values as a table"),
    table("Values, the latest first", [
      { title: "Time", cell: (index) => time(known.timestamps[index]) },
      { title: "Records in", cell: (index) => count(known["records-in"][index]), number: true },
      { title: "Records out", cell: (index) => count(known["records-out"][index]), number: true },
      ...shown.flatMap((chart) => chart.lines.map(([name, list]) => (
        { title: `${chart.title}: ${name}`, cell: cell(chart.text, list), number: true }))),
      { title: "Watermark", cell: (index) => mark(known.watermark[index]) },
    ], rows, (index) => known.timestamps[index]),
    controls);
}

const mark = (value) => (value === null || value < -END ? null : value > END ? "end of input" : time(value));
