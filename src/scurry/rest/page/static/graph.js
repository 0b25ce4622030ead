// The graph of a job: a column for each level, dashed lines inside a task, solid ones where records are exchanged.

import { h } from "./dom.js";

const WIDTH = 190, HEIGHT = 76, GAP = 70, ROW = 24;
const NARROW = matchMedia("(max-width: 40rem)");

/**
 * A drawing of the plan, from left to right, on a narrow screen from top to bottom.
 * `note(node)` is a line below an operator's name, `busy(node)` the share of time that it works, null if unknown.
 */
export function graph(nodes, note, busy) {
  const down = NARROW.matches;
  const places = placed(nodes, down);
  const width = Math.max(...[...places.values()].map((place) => place.x)) + WIDTH + 20;
  const height = Math.max(...[...places.values()].map((place) => place.y)) + HEIGHT + 16;
  const label = nodes.map((node) => `${node.description}, level ${node.level}`).join("; ");
  return h("div", { class: "scroll" }, h("svg", {
    class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Graph of the job: ${label}`,
  },
  h("defs", {}, h("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
    h("path", { d: "M0 0L8 4L0 8z" }))),
  down ? null : levels(places, height), edges(nodes, places, down), boxes(nodes, places, note, busy)));
}

// Chained operators stand beside those that they follow, tasks of a level below each other.
function placed(nodes, down) {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const columns = new Map();
  const columnOf = (node, seen = new Set()) => {
    if (columns.has(node.id) || seen.has(node.id)) return columns.get(node.id) ?? 0;
    seen.add(node.id);
    const before = (node.inputs || []).map((input) => known.get(input.id)).filter(Boolean);
    const column = before.length ? 1 + Math.max(...before.map((one) => columnOf(one, seen))) : 0;
    columns.set(node.id, column);
    return column;
  };
  nodes.forEach((node) => columnOf(node));
  const filled = new Map();
  const places = new Map();
  for (const node of [...nodes].sort((a, b) => columns.get(a.id) - columns.get(b.id))) {
    const column = columns.get(node.id);
    const row = filled.get(column) || 0;
    filled.set(column, row + 1);
    const [x, y] = down ? [10 + row * (WIDTH + 10), 10 + column * (HEIGHT + 30)] : [10 + column * (WIDTH + GAP), 30 + row * (HEIGHT + ROW)];
    places.set(node.id, { x, y, level: node.level });
  }
  return places;
}

function levels(places, height) {
  const spans = new Map();
  for (const { x, level } of places.values()) {
    const [from, to] = spans.get(level) || [x, x];
    spans.set(level, [Math.min(from, x), Math.max(to, x)]);
  }
  return [...spans].sort((a, b) => a[0] - b[0]).map(([level, [from, to]]) => [
    h("rect", { class: "level", x: from - 8, y: 2, width: to - from + WIDTH + 16, height: height - 6, rx: 5 }),
    h("text", { class: "small", x: from, y: 18 }, level ? `level ${level}` : "level 0 (sources)"),
  ]);
}

function edges(nodes, places, down) {
  return nodes.flatMap((node) => (node.inputs || []).map((input) => {
    const from = places.get(input.id), to = places.get(node.id);
    if (down) return downwards(from, to, input);
    const start = from.x + WIDTH, middle = (start + to.x) / 2, above = from.y + HEIGHT / 2, below = to.y + HEIGHT / 2;
    return [
      h("path", {
        d: `M${start} ${above}C${middle} ${above} ${middle} ${below} ${to.x} ${below}`,
        class: input.chained ? "chained" : null, "marker-end": "url(#arrow)",
      }),
      input.chained ? null : h("text", { class: "small", x: start + 4, y: (above + below) / 2 - 6 }, shipped(input.ship_strategy)),
    ];
  }));
}

function downwards(from, to, input) {
  const left = from.x + 30, right = to.x + 30, start = from.y + HEIGHT, middle = (start + to.y) / 2;
  return [
    h("path", {
      d: `M${left} ${start}C${left} ${middle} ${right} ${middle} ${right} ${to.y}`,
      class: input.chained ? "chained" : null, "marker-end": "url(#arrow)",
    }),
    input.chained ? null : h("text", { class: "small", x: right + 8, y: to.y - 9 }, shipped(input.ship_strategy)),
  ];
}

const shipped = (strategy) => (strategy.startsWith("HASH") || strategy.startsWith("KEY") ? "by key" : strategy.toLowerCase().slice(0, 9));

// From these shares of time on, a box has the next colour.
const BUSY = [0.1, 0.5, 0.8];

function boxes(nodes, places, note, busy) {
  return nodes.map((node) => {
    const { x, y } = places.get(node.id);
    const [first, second] = lines(node.description), load = busy(node);
    const colour = load === null ? 0 : BUSY.filter((bound) => load >= bound).length;
    return h("g", {},
      h("title", {}, `${node.description}\n${node.operator}, parallelism ${node.parallelism}\n${node.built_at}`),
      h("rect", { class: colour ? `busy-${colour}` : null, x, y, width: WIDTH, height: HEIGHT, rx: 4 }),
      h("text", { x: x + 9, y: y + 19 }, first),
      h("text", { x: x + 9, y: y + 35 }, second),
      h("text", { class: "small", x: x + 9, y: y + 51 }, `${node.operator} × ${node.parallelism}${load === null ? "" : `, busy ${Math.round(100 * load)} %`}`),
      h("text", { class: "small", x: x + 9, y: y + 66 }, note(node)));
  });
}

// A name in two lines of a box.
function lines(name) {
  const fits = 24;
  if (name.length <= fits) return [name, ""];
  const at = Math.max(...[" ", "(", "[", ",", "_"].map((cut) => name.lastIndexOf(cut, fits - 1)));
  const cut = at > 8 ? at + 1 : fits, rest = name.slice(cut);
  return [name.slice(0, cut), rest.length > fits ? `${rest.slice(0, fits - 1)}…` : rest];
}
