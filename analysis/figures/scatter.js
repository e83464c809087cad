// Points of two numbers, with intervals, rings around some, a front and names where there is room.

kinds.scatter = ({ x, y, names, points: columns, interval, front, is_map, looks }, width) => {
  const colour = (name) => looks?.[name]?.colour ?? colourOf(name);
  const symbol = (name) => looks?.[name]?.symbol ?? symbolOf(name);
  const isOther = (name) => colour(name) === "var(--series-other)";
  const points = columns.x.map((_, i) => ({
    name: names[columns.name[i]], x: columns.x[i], y: columns.y[i],
    low: columns.low?.[i] ?? null, high: columns.high?.[i] ?? null,
    label: columns.label?.[i] ?? "", detail: columns.detail?.[i] ?? "",
    isHollow: columns.hollow?.[i] ?? false, isPicked: columns.picked?.[i] ?? false, isBest: columns.best?.[i] ?? false,
  })).sort((a, b) => isOther(b.name) - isOther(a.name)); // colours above grey
  const xDomain = domainOf(x, points.map((it) => it.x));
  const yDomain = domainOf(y, points.flatMap((it) => [it.y, it.low, it.high].filter((end) => end !== null)));

  const frame = is_map ? mapFrame(width) : plotFrame(width, y, yDomain);
  const inner = { width: width - frame.marginLeft - frame.marginRight, height: frame.height - frame.marginTop - frame.marginBottom };
  const known = points.filter((it) => it.low !== null && it.high !== null);
  const dots = (isHollow) => {
    const data = points.filter((it) => it.isHollow === isHollow);
    const paint = isHollow ? { stroke: (it) => colour(it.name), fill: "var(--paper)", strokeWidth: 1.6 } : { fill: (it) => colour(it.name) };
    return Plot.dot(data, { x: "x", y: "y", r: points.length > 200 ? 3 : 4.5, symbol: (it) => symbol(it.name), fillOpacity: isHollow ? 1 : 0.85, ...paint, ...tagged(data, (it) => it.name) });
  };
  return fadeOthers(plotOf(width, {
    ...frame,
    x: is_map ? { domain: xDomain, axis: null } : axisOptions(x, xDomain, inner.width, { isX: true }),
    y: is_map ? { domain: yDomain, axis: null } : axisOptions(y, yDomain, inner.height, { isX: false }),
    marks: [
      ...(is_map ? [Plot.frame({ strokeOpacity: 0.3 })] : [Plot.gridY({ strokeOpacity: 0.12 }), Plot.gridX({ strokeOpacity: 0.12 })]),
      Plot.line(front, { curve: "step-after", stroke: "currentColor", strokeWidth: 1.2, strokeDasharray: "4 3" }),
      Plot.ruleX(known, { x: "x", y1: "low", y2: "high", stroke: (it) => colour(it.name), strokeWidth: 1.6, strokeOpacity: 0.7, ...tagged(known, (it) => it.name) }),
      dots(true),
      dots(false),
      Plot.dot(points.filter((it) => it.isPicked), { x: "x", y: "y", r: 8, stroke: "currentColor" }),
      Plot.dot(points.filter((it) => it.isBest), { x: "x", y: "y", r: 11, symbol: "square", stroke: "currentColor" }),
      namesBeside(points, front),
      Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (it) => tipOf(it, { x, y, interval, isMap: is_map }), maxRadius: 60 })),
    ],
  }));
};

function plotFrame(width, y, yDomain) {
  return {
    height: Math.max(240, Math.min(400, 0.45 * width)), marginTop: 24, marginBottom: 42,
    marginLeft: roomForNumbers(y, yDomain), marginRight: 16,
  };
}

// A square in the middle of the width.
function mapFrame(width) {
  const size = Math.min(width - 2, 420), side = (width - size) / 2;
  return { height: size, marginTop: 1, marginBottom: 1, marginLeft: side, marginRight: side };
}

function tipOf(it, { x, y, interval, isMap }) {
  const first = it.label && it.label !== it.name ? `${it.name}, ${it.label}` : it.name;
  const known = it.low === null || it.high === null ? [] : [`${interval}: ${textOn(y, it.low)} to ${textOn(y, it.high)}`];
  const values = isMap ? [] : [`${x.label}: ${textOn(x, it.x)}`, `${y.label}: ${textOn(y, it.y)}`];
  const marks = [...(it.isPicked ? ["selected on validation"] : []), ...(it.isBest ? ["best on test"] : [])];
  return [first, ...values, ...known, ...(it.detail ? [it.detail] : []), ...marks].join("\n");
}

// A mark: the label of each point beside it, best clear of lines too; left out where it would cover
// another label or a point.
function namesBeside(points, front) {
  return (index, { x, y }, values, { width, height, marginTop, marginBottom, marginLeft }) => {
    const group = svgElement("g", { "aria-label": "names" });
    const taken = points.map((it) => boxAround(x(it.x), y(it.y), 5, 5));
    const lines = [
      ...front.slice(1).flatMap(([at, value], i) => [
        boxBetween(x(front[i][0]), x(at), y(front[i][1]), y(front[i][1])), boxBetween(x(at), x(at), y(front[i][1]), y(value)),
      ]),
      ...points.filter((it) => it.low !== null && it.high !== null).map((it) => boxBetween(x(it.x), x(it.x), y(it.low), y(it.high))),
    ];
    for (const [i, point] of points.entries()) {
      if (!point.label) continue;
      const wide = widthOf(point.label) / 2, at = [x(point.x), y(point.y)];
      const places = [[9 + wide, 0], [-9 - wide, 0], [0, -14], [0, 14], [9 + wide, -12], [9 + wide, 12], [-9 - wide, -12], [-9 - wide, 12]]
        .map(([dx, dy]) => boxAround(at[0] + dx, at[1] + dy, wide + 1, 7))
        .filter((box) => box.left >= marginLeft && box.right <= width && box.top >= marginTop - 12 && box.bottom <= height - marginBottom)
        .filter((box) => !taken.some((other, j) => j !== i && meet(box, other)));
      const box = places.find((it) => !lines.some((line) => meet(it, line))) ?? places[0];
      if (!box) continue;
      taken.push(box);
      const text = svgElement("text", { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, dy: "0.32em", "text-anchor": "middle", fill: "currentColor" }, point.label);
      text.dataset.competitor = point.name;
      group.append(text);
    }
    return group;
  };
}

const boxBetween = (x1, x2, y1, y2) => ({ left: Math.min(x1, x2), right: Math.max(x1, x2), top: Math.min(y1, y2), bottom: Math.max(y1, y2) });
const boxAround = (x, y, wide, high) => ({ left: x - wide, right: x + wide, top: y - high, bottom: y + high });
const meet = (a, b) => a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
