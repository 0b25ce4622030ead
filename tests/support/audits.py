"""What Lighthouse audits of a page and can be read from its tree: names, headings, pictures, targets, contrast."""

from __future__ import annotations

from playwright.sync_api import Page

__all__ = ["problems_of"]

_AUDITS = r"""
() => {
  const problems = [];
  const report = (what, node) => problems.push(
    node ? `${what}: ${node.outerHTML.replace(/\s+/g, ' ').slice(0, 120)}` : what);
  const every = (selector) => [...document.querySelectorAll(selector)];
  const hidden = (node) => node.closest('[aria-hidden=true]') !== null
    || !node.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const shown = (node) => {
    const box = node.getBoundingClientRect();
    return !hidden(node) && box.width > 1 && box.height > 1 && box.right > 0 && box.bottom + scrollY > 0;
  };
  const named = (node) => {
    const parts = [node.getAttribute('aria-label'), node.getAttribute('title'), node.textContent];
    for (const id of (node.getAttribute('aria-labelledby') || '').split(' ').filter(Boolean))
      parts.push(document.getElementById(id)?.textContent);
    for (const label of node.labels || []) parts.push(label.textContent);
    for (const image of node.querySelectorAll('img, svg'))
      parts.push(image.getAttribute('alt'), image.getAttribute('aria-label'));
    if (/^(submit|button|reset)$/.test(node.type)) parts.push(node.value);
    return parts.some((part) => part && part.trim());
  };

  // The document.
  if (!document.documentElement.lang) report('no language');
  if (!document.title.trim()) report('no title');
  if (document.compatMode !== 'CSS1Compat') report('no doctype');
  const viewport = document.querySelector('meta[name=viewport]')?.content || '';
  if (!viewport.includes('width=device-width') || /user-scalable=no|maximum-scale/.test(viewport))
    report(`viewport ${viewport}`);
  if (every('main, [role=main]').filter(shown).length !== 1) report('not one main landmark');
  const ids = every('[id]').map((node) => node.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) report(`id ${id} twice`);
  for (const node of every('[aria-labelledby], [aria-describedby], [aria-controls]').filter(shown))
    for (const attribute of ['aria-labelledby', 'aria-describedby', 'aria-controls'])
      for (const id of (node.getAttribute(attribute) || '').split(' ').filter(Boolean))
        if (!document.getElementById(id)) report(`${attribute} of nothing`, node);
  for (const node of every('[tabindex]')) if (node.tabIndex > 0) report('tabindex', node);

  // Headings.
  let level = 0;
  for (const heading of every('h1, h2, h3, h4, h5, h6').filter((node) => !hidden(node))) {
    const next = +heading.tagName[1];
    if (next > level + 1) report(`heading after level ${level}`, heading);
    level = next;
  }
  if (every('h1').filter(shown).length !== 1) report('not one h1');

  // Controls and pictures.
  const controls = every('a[href], button, input:not([type=hidden]), select, textarea, summary, meter, ' +
    '[role=button], [role=slider], [role=tab], [role=img], [role=dialog], figure > table, iframe');
  for (const node of controls) if (!hidden(node) && !named(node)) report('no name', node);
  for (const node of every('img')) {
    if (!node.hasAttribute('alt')) report('no alt', node);
    const box = node.getBoundingClientRect(), natural = node.naturalWidth / node.naturalHeight;
    if (shown(node) && node.complete && Math.abs(box.width / box.height / natural - 1) > 0.05)
      report('distorted', node);
  }
  for (const node of every('svg'))
    if (shown(node) && !node.closest('[aria-label], [role=img], a, button, label') && !node.querySelector('title'))
      report('no alternative', node);

  // Targets: 24 pixels, or as far from others; links within sentences are free.
  const inSentence = (node) => getComputedStyle(node).display === 'inline'
    && [...node.parentNode.childNodes].some((each) => each.nodeType === 3 && /\w/.test(each.data));
  const usable = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=tab]';
  const targets = every(usable).filter((node) => shown(node) && !inSentence(node));
  const boxes = targets.map((node) => node.getBoundingClientRect());
  const small = (box) => box.width < 23.9 || box.height < 23.9;
  boxes.forEach((box, at) => {
    if (!small(box)) return;
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    boxes.forEach((other, number) => {
      if (number === at || targets[at].contains(targets[number]) || targets[number].contains(targets[at])) return;
      const dx = small(other) ? Math.abs(other.x + other.width / 2 - x) : Math.max(other.x - x, x - other.right, 0);
      const dy = small(other) ? Math.abs(other.y + other.height / 2 - y) : Math.max(other.y - y, y - other.bottom, 0);
      if (Math.hypot(dx, dy) < (small(other) ? 24 : 12) - 0.1)
        report(`target of ${Math.round(box.width)} x ${Math.round(box.height)}`, targets[at]);
    });
  });

  // Contrast of texts.
  const rgba = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = (above, below) => above.slice(0, 3).map((part, at) => part * above[3] + below[at] * (1 - above[3]));
  const luminance = (colour) => colour.map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (node) => {
    const layers = [];
    for (let each = node; each; each = each.parentElement) layers.push(rgba(getComputedStyle(each).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!/\S/.test(walker.currentNode.data) || seen.has(node) || !shown(node)) continue;
    if (node.closest('svg, [disabled], [aria-disabled]')) continue;
    seen.add(node);
    const style = getComputedStyle(node), below = ground(node), size = parseFloat(style.fontSize);
    const [light, dark] = [luminance(over(rgba(style.color), below)), luminance(below)].sort((a, b) => b - a);
    const least = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < least) report(`contrast ${ratio.toFixed(2)}`, node);
  }
  return [...new Set(problems)];
}
"""


def problems_of(page: Page) -> list[str]:
    """Return what is wrong with the page as it is shown now, each with the beginning of the element."""
    found: list[str] = page.evaluate(_AUDITS)
    return found
