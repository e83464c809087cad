// Lines over a number, one for each competitor, with their names at their ends.

const LABEL = 14; // pixels from one name to the next
const INDENT = 6; // pixels, of what a name continues with
const MOST_NAMES = 34; // lines of text that make a plot higher; beyond, only colours are named
const STATES = { c: "complete", p: "pruned", f: "failed" };

kinds.lines = ({ x, y, xs, lines, band, are_steps, has_points }, width) => {
  const isOther = (name) => colourOf(name) === "var(--series-other)";
  const drawn = lines.map((line) => ({ ...line, points: pointsOf(line, xs[line.xs]) }))
    .sort((a, b) => isOther(b.name) - isOther(a.name)); // colours above grey
  const points = drawn.flatMap((line) => line.points);
  const dots = drawn.flatMap(dotsOf);
  const xDomain = domainOf(x, [...points, ...dots].map((it) => it.x));
  const yDomain = domainOf(y, [...points.flatMap((it) => [it.y, it.low, it.high]), ...dots.map((it) => it.y)]);
  for (const dot of dots) dot.shown = dot.y ?? yDomain[0];

  const names = [...new Set(drawn.map((line) => line.name))];
  const textLines = (some) => labelsOf(some, width, 0.34).labels.join("\n").split("\n").length;
  const inner = innerHeight(textLines(names), width);
  const named = textLines(names) * LABEL <= inner ? names : names.filter((name) => !isOther(name));
  const { labels, room } = labelsOf(named, width, 0.34);
  const marginRight = room + 12 + INDENT;
  const marginLeft = roomForNumbers(y, yDomain);
  const xOptions = axisOptions(x, xDomain, width - marginLeft - marginRight, { isX: true });
  const marginBottom = xOptions.labelOffset + 6;
  const mains = named.map((name, i) => ({ line: drawn.find((line) => line.name === name), label: labels[i] }));

  const banded = points.filter((it) => it.low !== null && it.high !== null && !isOther(it.name));
  const known = points.filter((it) => it.y !== null);
  const trials = (state, options) => {
    const data = dots.filter((it) => it.state === state);
    return Plot.dot(data, { x: "x", y: "shown", r: 3, symbol: (it) => symbolOf(it.name), ...options, ...tagged(data, (it) => it.name) });
  };
  const targets = [...known, ...dots];
  return fadeOthers(plotOf(width, {
    height: inner + 24 + marginBottom, marginTop: 24, marginBottom, marginLeft, marginRight, marks: [
      Plot.gridY({ strokeOpacity: 0.12 }),
      Plot.areaY(banded, { x: "x", y1: "low", y2: "high", z: "line", fill: (it) => colourOf(it.name), fillOpacity: 0.12, curve: are_steps ? "step-after" : "linear", ...tagged(banded, (it) => it.name) }),
      Plot.line(points, {
        x: "x", y: "y", z: "line", stroke: (it) => colourOf(it.name), curve: are_steps ? "step-after" : "linear",
        strokeOpacity: (it) => isOther(it.name) ? 0.55 : 1, strokeWidth: has_points ? 1.6 : 1.9, ...tagged(points, (it) => it.name),
      }),
      trials("complete", { fill: (it) => colourOf(it.name), fillOpacity: 0.75 }),
      trials("pruned", { stroke: (it) => colourOf(it.name), fill: "var(--paper)" }),
      trials("failed", { stroke: (it) => colourOf(it.name), symbol: "times", strokeWidth: 1.8 }),
      ...(has_points ? [Plot.dot(known, { x: "x", y: "y", r: 4, fill: (it) => colourOf(it.name), symbol: (it) => symbolOf(it.name), ...tagged(known, (it) => it.name) })] : []),
      namesAtEnds(mains),
      Plot.tip(targets, Plot.pointer({ x: "x", y: (it) => it.shown ?? it.y, title: (it) => tipOf(it, { x, y, band }), maxRadius: 60 })),
    ],
    x: xOptions,
    y: axisOptions(y, yDomain, inner, { isX: false }),
  }));
};

function pointsOf(line, xs) {
  return xs.map((x, i) => ({
    name: line.name, line, x, y: line.y[i], low: line.low?.[i] ?? null, high: line.high?.[i] ?? null,
  }));
}

function dotsOf(line) {
  if (!line.dots) return [];
  return line.dots.x.map((x, i) => ({ name: line.name, line, x, y: line.dots.y[i], state: STATES[line.dots.state[i]] }));
}

function innerHeight(count, width) {
  const usual = Math.max(180, Math.min(300, 0.38 * width));
  return count <= MOST_NAMES ? Math.max(usual, LABEL * count) : usual;
}

function tipOf(it, { x, y, band }) {
  const name = it.line.note ? `${it.name}, ${it.line.note}` : it.name;
  const value = it.y === null ? "no value" : textOn(y, it.y);
  return [
    it.state ? `${name}, ${it.state}` : name,
    `${x.label}: ${textOn(x, it.x)}`,
    `${y.label}: ${value}`,
    ...(it.low === undefined || it.low === null ? [] : [`${band}: ${textOn(y, it.low)} to ${textOn(y, it.high)}`]),
  ].join("\n");
}

// A mark: the label of each line at its end, its lines of text moved apart, the first led to.
function namesAtEnds(mains) {
  return (index, scales, values, { width, height, marginRight, marginTop, marginBottom }) => {
    const group = svgElement("g", { "aria-label": "names" });
    const ends = mains.map((it) => ({ ...it, point: it.line.points.filter(({ y }) => y !== null).at(-1) }))
      .filter(({ point }) => point).sort((a, b) => scales.y(a.point.y) - scales.y(b.point.y))
      .flatMap((it) => it.label.split("\n").map((label, i) => ({ ...it, label, isFirst: i === 0 })));
    const heights = movedApart(ends.map(({ point }) => scales.y(point.y)), marginTop, height - marginBottom);
    ends.forEach(({ line, point, label, isFirst }, i) => {
      const edge = width - marginRight;
      const from = scales.x(point.x) + 3;
      const leader = svgElement("path", {
        d: `M${from},${scales.y(point.y)}L${Math.max(from, edge - 1)},${scales.y(point.y)}L${edge + 10},${heights[i]}`,
        fill: "none", stroke: colourOf(line.name), "stroke-opacity": 0.6, "stroke-dasharray": "2 2",
      });
      const text = svgElement("text", {
        x: edge + 13 + (isFirst ? 0 : INDENT), y: heights[i], dy: "0.32em", fill: "currentColor", "text-anchor": "start",
      }, label);
      for (const element of isFirst ? [leader, text] : [text]) element.dataset.competitor = line.name;
      group.append(leader, text);
    });
    return group;
  };
}

// Ascending heights, so that each is far enough from the next and all lie within the plot: midway
// between where they are when all are moved down and when all are moved up.
function movedApart(heights, top, bottom) {
  const down = (from, first) => {
    const moved = [];
    for (const it of from) moved.push(Math.max(it, moved.length ? moved.at(-1) + LABEL : first));
    return moved;
  };
  const up = (from, last) => down(from.map((it) => -it).reverse(), -last).map((it) => -it).reverse();
  const lower = up(down(heights, top), bottom), upper = down(up(heights, bottom), top);
  return lower.map((it, i) => (it + upper[i]) / 2);
}
