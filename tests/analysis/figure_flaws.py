"""What a browser finds wrong with the texts of the figures that a page shows."""

FLAWS = """() => {
  const parts = (colour) => {
    const [r, g, b, alpha = 1] = colour.match(/[\\d.]+(e-?\\d+)?/g).map(Number);
    return [...[r, g, b].map((it) => colour.startsWith("color(") ? 255 * it : it), alpha];
  };
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const over = (above, alpha, below) => below.map((it, i) => alpha * above[i] + (1 - alpha) * it);
  const paper = parts(getComputedStyle(document.body).backgroundColor).slice(0, 3);

  // What lies below a point: the paper, and above it the rectangles drawn there.
  const below = (rects, x, y) => rects.reduce((colour, { box, fill, alpha }) =>
    x > box.left && x < box.right && y > box.top && y < box.bottom
      ? over(fill, alpha, colour) : colour, paper);
  const contrast = (text, box, rects) => {
    const b = below(rects, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
    const style = getComputedStyle(text);
    const colour = parts(style.fill);
    const ends = [light(over(colour, colour[3] * style.fillOpacity, b)), light(b)];
    return (Math.max(...ends) + 0.05) / (Math.min(...ends) + 0.05);
  };

  // The corners of a text as it lies, without the room above and below its letters.
  const corners = (text) => {
    const { x, y, width, height } = text.getBBox(), m = text.getScreenCTM();
    const [top, bottom] = [y + 0.15 * height, y + 0.85 * height];
    return [[x, top], [x + width, top], [x + width, bottom], [x, bottom]]
      .map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
  };
  // How many pixels one of them had to be moved so that they no longer overlap.
  const overlap = (one, other) => {
    let least = Infinity;
    for (const from of [one, other]) for (const [i, j] of [[0, 1], [1, 2]]) {
      const dx = from[j][0] - from[i][0], dy = from[j][1] - from[i][1], long = Math.hypot(dx, dy);
      const [a, b] = [one, other].map((it) => it.map(([x, y]) => (x * dx + y * dy) / long));
      least = Math.min(least,
        Math.min(Math.max(...a), Math.max(...b)) - Math.max(Math.min(...a), Math.min(...b)));
    }
    return least;
  };
  const areNear = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

  const flaws = [];
  for (const svg of document.querySelectorAll(".plot > svg")) {
    if (!svg.checkVisibility()) continue;
    const frame = svg.getBoundingClientRect();
    const rects = [...svg.querySelectorAll("rect, [aria-label=dot] path")].map((rect) => {
      const style = getComputedStyle(rect);
      const [r, g, b, alpha] = style.fill === "none" ? [0, 0, 0, 0] : parts(style.fill);
      const box = rect.getBoundingClientRect();
      return { box, fill: [r, g, b], alpha: alpha * style.fillOpacity * style.opacity };
    });
    const texts = [...svg.querySelectorAll("text")]
      .filter((it) => it.textContent.trim() && !it.closest("[aria-label=tip]"))
      .map((it) => ({ it, box: it.getBoundingClientRect(), corners: corners(it) }));
    const say = (flaw, text) => flaws.push(`${svg.parentElement.id}: ${flaw}: ${text}`);
    texts.forEach(({ it, box, corners }, i) => {
      const isAcross = box.left < frame.left - 2 || box.right > frame.right + 2;
      const isAbove = box.top < frame.top - 0.2 || box.bottom > frame.bottom + 0.2;
      if (isAcross || isAbove || it.textContent.includes("…")) say("cut", it.textContent);
      const scale = frame.width / svg.getAttribute("width");
      if (scale * parseFloat(getComputedStyle(it).fontSize) < 10.9) say("small", it.textContent);
      if (contrast(it, box, rects) < 4.5) say("pale", it.textContent);
      for (const other of texts.slice(0, i)) {
        if (areNear(box, other.box) && overlap(corners, other.corners) > 2)
          say("overlap", `${it.textContent} | ${other.it.textContent}`);
      }
    });
  }
  return flaws;
}"""
"""Texts that are cut, smaller than 11 pixels, too pale (WCAG 2.2, level AA) or overlap others."""

CUT = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  for (let text; (text = texts.nextNode());) {
    const parent = text.parentElement, range = document.createRange();
    if (parent.closest("option, .skip") || !parent.checkVisibility()) continue;
    range.selectNodeContents(text);
    const rects = text.data.trim() ? [...range.getClientRects()] : [];
    for (let box = parent; box; box = box.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(box);
      const { left, right, top, bottom } = box.getBoundingClientRect();
      const isAcross = (it) => it.left < left - 1 || it.right > right + 1;
      const isAbove = (it) => it.top < top - 1 || it.bottom > bottom + 1;
      const isBounded = overflowX !== "visible" || box === document.body;
      if (isBounded && rects.some(isAcross) || overflowY === "hidden" && rects.some(isAbove))
        found.push(text.data);
    }
  }
  return found;
}"""
"""Texts of a page that reach beyond a box which does not show what is outside it."""
