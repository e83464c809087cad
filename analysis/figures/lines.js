// Lines over a number, one for each competitor, with their names at their ends.

const LABEL = 14; // pixels from one name to the next
const MOST_NAMES = 26; // of lines that make a plot higher; beyond, only those in colour are named
const STATES = { c: "complete", p: "pruned", f: "failed" };

kinds.lines = ({ x, y, xs, lines, band, labels, are_steps, has_points, looks }, width) => {
  const colour = (name) => looks?.[name]?.colour ?? colourOf(name);
  const symbol = (name) => looks?.[name]?.symbol ?? symbolOf(name);
  const isOther = (name) => colour(name) === "var(--series-other)";
  const drawn = lines.map((line) => ({ ...line, points: pointsOf(line, xs[line.xs]) }))
    .sort((a, b) => isOther(b.name) - isOther(a.name)); // colours above grey
  const points = drawn.flatMap((line) => line.points);
  const dots = drawn.flatMap(dotsOf);
  const xDomain = domainOf(x, [...points, ...dots].map((it) => it.x));
  const yDomain = domainOf(y, [...points.flatMap((it) => [it.y, it.low, it.high]), ...dots.map((it) => it.y)]);
  for (const dot of dots) dot.shown = dot.y ?? yDomain[0];

  const names = [...new Set(drawn.map((line) => line.name))];
  const inner = innerHeight(names.length, labels, width);
  const named = names.length * LABEL <= inner ? names : names.filter((name) => !isOther(name));
  const textOf = (line, { y: value }) => labels === "both" ? `${textOn(y, value)}  ${line.name}` : line.name;
  const room = roomFor(labels === "both" ? named.map((it) => `00  ${it}`) : named, width, { share: labels === "both" ? 0.3 : 0.34 }) + 12;
  const marginLeft = labels === "both" ? room : roomForNumbers(y, yDomain);
  const mains = named.map((name) => drawn.find((line) => line.name === name && !line.is_dotted));

  const solid = drawn.filter((line) => !line.is_dotted).flatMap((line) => line.points);
  const dotted = drawn.filter((line) => line.is_dotted).flatMap((line) => line.points);
  const banded = points.filter((it) => it.low !== null && it.high !== null && !isOther(it.name));
  const known = points.filter((it) => it.y !== null);
  const look = (data, options) => Plot.line(data, {
    x: "x", y: "y", z: "line", stroke: (it) => colour(it.name), curve: are_steps ? "step-after" : "linear",
    strokeOpacity: (it) => isOther(it.name) ? 0.55 : 1, ...options, ...tagged(data, (it) => it.name),
  });
  const trials = (state, options) => {
    const data = dots.filter((it) => it.state === state);
    return Plot.dot(data, { x: "x", y: "shown", r: 3, symbol: (it) => symbol(it.name), ...options(colour), ...tagged(data, (it) => it.name) });
  };
  const targets = [...known, ...dots];
  return fadeOthers(plotOf(width, {
    height: inner + 24 + 42, marginTop: 24, marginBottom: 42, marginLeft, marginRight: room, marks: [
      ...(labels === "both" ? [] : [Plot.gridY({ strokeOpacity: 0.12 })]),
      Plot.areaY(banded, { x: "x", y1: "low", y2: "high", z: "line", fill: (it) => colour(it.name), fillOpacity: 0.12, curve: are_steps ? "step-after" : "linear", ...tagged(banded, (it) => it.name) }),
      look(solid, { strokeWidth: has_points ? 1.6 : 1.9 }),
      look(dotted, { strokeWidth: 1.4, strokeDasharray: "2 3" }),
      trials("complete", (of) => ({ fill: (it) => of(it.name), fillOpacity: 0.75 })),
      trials("pruned", (of) => ({ stroke: (it) => of(it.name), fill: "var(--paper)" })),
      trials("failed", (of) => ({ stroke: (it) => of(it.name), symbol: "times", strokeWidth: 1.8 })),
      ...(has_points ? [Plot.dot(known, { x: "x", y: "y", r: 4, fill: (it) => colour(it.name), symbol: (it) => symbol(it.name), ...tagged(known, (it) => it.name) })] : []),
      namesAt("right", mains, room, { colour, textOf }),
      ...(labels === "both" ? [namesAt("left", mains, room, { colour, textOf })] : []),
      Plot.tip(targets, Plot.pointer({ x: "x", y: (it) => it.shown ?? it.y, title: (it) => tipOf(it, { x, y, band }), maxRadius: 60 })),
    ],
    x: axisOptions(x, xDomain, width - marginLeft - room, { isX: true }),
    y: labels === "both" ? { domain: yDomain, axis: null } : axisOptions(y, yDomain, inner, { isX: false }),
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

function innerHeight(count, labels, width) {
  const usual = Math.max(180, Math.min(300, 0.38 * width));
  if (labels === "both") return Math.max(Math.min(usual, 24 * count), 18 * count);
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

// A mark: the name of each line at one of its ends, moved apart, with a line that leads there.
function namesAt(side, lines, room, { colour, textOf }) {
  return (index, scales, values, { width, height, marginLeft, marginRight, marginTop, marginBottom }) => {
    const isRight = side === "right";
    const group = svgElement("g", { "aria-label": "names" });
    const ends = lines.map((line) => {
      const found = line.points.filter((it) => it.y !== null);
      return { line, point: isRight ? found.at(-1) : found[0] };
    }).filter(({ point }) => point).sort((a, b) => scales.y(a.point.y) - scales.y(b.point.y));
    const heights = movedApart(ends.map(({ point }) => scales.y(point.y)), marginTop, height - marginBottom);
    ends.forEach(({ line, point }, i) => {
      const edge = isRight ? width - marginRight : marginLeft;
      const end = isRight ? edge + 10 : edge - 10;
      const from = scales.x(point.x) + (isRight ? 3 : -3);
      const leader = svgElement("path", {
        d: `M${from},${scales.y(point.y)}L${isRight ? Math.max(from, edge - 1) : Math.min(from, edge + 1)},${scales.y(point.y)}L${end},${heights[i]}`,
        fill: "none", stroke: colour(line.name), "stroke-opacity": 0.6, "stroke-dasharray": "2 2",
      });
      const text = svgElement("text", {
        x: isRight ? end + 3 : end - 3, y: heights[i], dy: "0.32em", fill: "currentColor", "text-anchor": isRight ? "start" : "end",
      }, fitted(textOf(line, point), room));
      for (const element of [leader, text]) element.dataset.competitor = line.name;
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
