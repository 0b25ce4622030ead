// What a program has printed: text as it is, rows of queries as tables.

import { h } from "./dom.js";

const RULE = /^\+(-+\+)+$/;
/** Most rows of a table that are shown: the latest. */
const ROWS = 1000;

/** Elements for a text: tables for what is printed as tables, the rest as text. */
export function tables(text) {
  const lines = text.split("\n"), shown = [];
  let plain = [];
  const flush = () => {
    const rest = plain.join("\n");
    if (rest.trim()) shown.push(h("pre", { tabindex: "0", "aria-label": "Printed" }, rest));
    plain = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const found = RULE.test(lines[at]) ? tableAt(lines, at) : null;
    if (!found) {
      plain.push(lines[at]);
      continue;
    }
    flush();
    shown.push(element(found.rows));
    at = found.last;
  }
  flush();
  return shown;
}

// The rows from a rule on, the first is the head; null if it does not begin a table.
function tableAt(lines, first) {
  const bounds = [...lines[first]].flatMap((letter, at) => (letter === "+" ? [at] : []));
  const rows = [];
  let at = first + 1;
  for (; at < lines.length; at += 1) {
    if (lines[at] === lines[first]) continue;
    const cells = cellsOf(lines[at], bounds);
    if (!cells) break;
    rows.push(cells);
  }
  return rows.length && lines[first + 2] === lines[first] ? { rows, last: at - 1 } : null;
}

// The parts of a line between the columns where a table has its bars; null if there is none at one of them.
function cellsOf(line, bounds) {
  const cells = [];
  let column = 0, next = 0, cell = "";
  for (const letter of line) {
    if (column === bounds[next]) {
      if (letter !== "|") return null;
      if (next) cells.push(cell.trim());
      cell = "";
      next += 1;
    } else cell += letter;
    column += columnsOf(letter);
  }
  return next === bounds.length && cell === "" ? cells : null;
}

const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
// As tables are printed: UTF-16 units, and one more for wide letters.
const columnsOf = (letter) => letter.length + (WIDE.test(letter) ? 1 : 0);

function element([head, ...rows]) {
  const number = head.map((_, at) => rows.length > 0 && rows.every((row) => /^(-?[\d.,]+(E-?\d+)?|<NULL>|NULL)$/.test(row[at])));
  const kind = (at) => (number[at] ? "number" : null);
  const left = rows.length - ROWS;
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Result" }, h("table", {},
    h("caption", {}, left > 0 ? `The last ${ROWS} of ${rows.length} rows` : `${rows.length} row${rows.length === 1 ? "" : "s"}`),
    h("thead", {}, h("tr", {}, head.map((name, at) => h("th", { scope: "col", class: kind(at) }, name)))),
    h("tbody", {}, rows.slice(-ROWS).map((row) => h("tr", {}, row.map((cell, at) => h("td", { class: kind(at) }, cell)))))));
}
