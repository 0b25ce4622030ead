// Elements, and what they show brought up to date in place: focus, selection and opened details stay.

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "g", "rect", "path", "text", "tspan", "title", "defs", "marker", "line", "polyline", "polygon"]);

/** An element: `h("a", {href: "#"}, "text", ...)`. Attributes that are null or false are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Let an element show new children, changing only what differs. */
export function show(element, ...children) {
  const wanted = h("div", {}, ...children);
  adapt(element, wanted);
}

function adapt(present, wanted) {
  const olds = [...present.childNodes];
  const news = [...wanted.childNodes];
  news.forEach((next, index) => {
    const old = olds[index];
    if (!old) present.append(next);
    else if (!alike(old, next)) old.replaceWith(next);
    else if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== next.data) old.data = next.data;
    } else if (!old.hasAttribute("data-own")) {
      adaptAttributes(old, next);
      adapt(old, next);
    }
  });
  olds.slice(news.length).forEach((old) => old.remove());
}

function alike(old, next) {
  if (old.nodeType !== next.nodeType || old.nodeName !== next.nodeName) return false;
  return old.nodeType !== Node.ELEMENT_NODE || old.dataset.key === next.dataset.key;
}

function adaptAttributes(old, next) {
  for (const { name, value } of [...next.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
}

/** A table. `columns`: `{title, cell, number}`, where `cell(row)` is what the row has there. */
export function table(caption, columns, rows, key = () => null) {
  if (!rows.length) return h("p", { class: "dim" }, `${caption}: none.`);
  const kind = (column) => (column.number ? "number" : null);
  return h("div", { class: "scroll" },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col", class: kind(column) }, column.title)))),
      h("tbody", {}, rows.map((row) =>
        h("tr", { "data-key": key(row) }, columns.map((column, index) =>
          h(index ? "td" : "th", { scope: index ? null : "row", class: kind(column) }, column.cell(row) ?? "–")))))));
}

const pages = new Map();

/** Rows a page at a time, `{rows, controls}`; `key` names the list, whose page stays while its rows change. */
export function paged(key, all, size = 20) {
  const last = Math.max(0, Math.ceil(all.length / size) - 1);
  const page = Math.min(pages.get(key) ?? 0, last);
  const turn = (by) => () => {
    pages.set(key, Math.max(0, (pages.get(key) ?? 0) + by));
    again();
  };
  const step = (label, by, possible) => h("button", { type: "button", "aria-disabled": possible ? null : "true", onclick: turn(by) }, label);
  const controls = last === 0 ? null : h("nav", { class: "pages", "aria-label": "Pages", "data-key": key },
    step("Newer", -1, page > 0), ` ${page + 1} of ${last + 1} `, step("Older", 1, page < last));
  if (page === last) pages.set(key, last);
  return { rows: all.slice(page * size, (page + 1) * size), controls };
}

/** Let the page show what it knows once more: after a choice that only concerns what is shown. */
export const again = () => document.dispatchEvent(new Event("again"));

/** Pairs of a name and a value. */
export const facts = (pairs) =>
  h("dl", { class: "facts" }, Object.entries(pairs).map(([name, value]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value ?? "–"))));
