// Parallel coordinates: a line for each config across its hyperparameters, which ends at its score.
// Pointing at a line brings it forward and says its values.

const LEAST_GAP = 96; // pixels between axes beside each other; closer, they lie below each other
const HEIGHT = 250;
const ROW = 48; // pixels from one axis to the next below
const PARTS = [0, 0.25, 0.5, 0.75]; // between two axes, where the pointer finds a line
const SHADES = 20;
const PALEST = 0.18;

kinds.parallel = (values, width) => {
  const { axes, gain_range: [low, high], published } = values;
  const score = { name: "Points", scale: "linear", low, high };
  const all = [...axes, score];
  const isDown = width / all.length < LEAST_GAP;
  const height = isDown ? ROW * all.length + 30 : HEIGHT;
  const configs = configsOf(values).sort((a, b) => a.gain - b.gain);
  const lines = [...configs, ...(published ? [published] : [])];
  const shareOf = (gain) => Math.max(0, Math.min(1, (gain - low) / (high - low)));
  const colour = (it) => it === published ? "currentColor" : sequential(PALEST + (1 - PALEST) * shareOf(it.gain));
  const heights = lines.map((it) => all.map((axis, k) => placeOn(axis, k < axes.length ? it.values[k] : it.gain)));
  const points = lines.flatMap((it, i) => all.map((_, k) => ({ line: i, k, at: heights[i][k] })));
  const near = lines.flatMap((it, i) => between(heights[i]).map(([k, at]) => ({ line: i, k, at })));
  const [x, y] = isDown ? ["at", "k"] : ["k", "at"];
  const text = (it) => configText(lines[it.line], values);
  const along = isDown ? Plot.ruleY : Plot.ruleX;
  const svg = plotOf(width, {
    height, marginTop: isDown ? 30 : 40, marginBottom: isDown ? 22 : 26, marginLeft: isDown ? 16 : 56, marginRight: isDown ? 16 : 56,
    x: { axis: null, domain: isDown ? [0, 1] : [0, all.length - 1] },
    y: { axis: null, domain: isDown ? [all.length - 1, 0] : [0, 1] },
    marks: [
      Plot.line(points, { x, y, z: "line", stroke: (it) => colour(lines[it.line]), strokeWidth: 1.3, strokeOpacity: 0.75, ...numbered(points, lines, published) }),
      along(all, isDown ? { y: (_, k) => k, x1: 0, x2: 1 } : { x: (_, k) => k, y1: 0, y2: 1 }),
      ...scoreShades(all.length - 1, isDown),
      ...axisTexts(all, isDown, (width - 112) / (all.length - 1)),
      Plot.tip(near, Plot.pointer({ x, y, title: text, maxRadius: 30, ...tipWidth(width) })),
    ],
  });
  svg.addEventListener("input", () => bringForward(svg, svg.value?.line));
  return svg;
};

// 0 to 1 along its axis; NaN where the hyperparameter does not exist.
function placeOn(axis, value) {
  if (value === null) return NaN;
  if (axis.scale === "choice") return value / Math.max(1, axis.values.length - 1);
  const scale = axis.scale === "log" ? Math.log : Number;
  const [low, high] = [axis.low, axis.high].map(scale);
  return (scale(within(axis, value)) - low) / (high - low || 1);
}

function between(heights) {
  return heights.flatMap((from, k) => {
    const to = heights[k + 1];
    if (to === undefined || Number.isNaN(from) || Number.isNaN(to)) return Number.isNaN(from) ? [] : [[k, from]];
    return PARTS.map((part) => [k + part, from + part * (to - from)]);
  });
}

// Option of the lines: each knows its number; that of the published default is dashed.
function numbered(points, lines, published) {
  return {
    render(index, scales, values, dimensions, context, next) {
      const group = next(index, scales, values, dimensions, context);
      for (const path of group.children) {
        const { line } = points[path.__data__[0]];
        path.dataset.line = line;
        if (lines[line] === published) {
          path.setAttribute("stroke-dasharray", "5 3");
          path.setAttribute("stroke-opacity", 1);
        }
      }
      return group;
    },
  };
}

function bringForward(svg, line) {
  for (const path of svg.querySelectorAll("path[data-line]")) {
    const isChosen = path.dataset.line === String(line);
    path.style.opacity = line === undefined || isChosen ? "" : 0.25;
    path.style.stroke = isChosen ? "currentColor" : "";
    path.style.strokeWidth = isChosen ? 3 : "";
  }
}

// The axis of the score is the key of the colours.
function scoreShades(k, isDown) {
  const shades = Array.from({ length: SHADES }, (_, i) => i / SHADES);
  const from = (it) => it, to = (it) => it + 1 / SHADES;
  const fill = (it) => sequential(PALEST + (1 - PALEST) * it);
  return [isDown
    ? Plot.rect(shades, { x1: from, x2: to, y1: k, y2: k, insetTop: -4, insetBottom: -4, fill })
    : Plot.rect(shades, { y1: from, y2: to, x1: k, x2: k, insetLeft: -4, insetRight: -4, fill })];
}

function axisTexts(axes, isDown, room) {
  const halo = { stroke: "var(--paper)", strokeWidth: 4, fill: "currentColor" };
  const names = axes.map((axis, k) => ({ k, text: axis.name }));
  const ticks = axes.flatMap((axis, k) => ticksOf(axis).map(([at, text]) => ({ k, at, text })));
  const ends = (it) => it.at === 0 ? "start" : it.at === 1 ? "end" : "middle";
  if (isDown) {
    return [
      Plot.text(names, { x: 0, y: "k", text: "text", dy: -14, textAnchor: "start", fontWeight: 600, ...halo }),
      ...["start", "middle", "end"].map((textAnchor) => Plot.text(ticks.filter((it) => ends(it) === textAnchor), {
        x: "at", y: "k", text: "text", dy: 11, fontSize: 11, textAnchor, ...halo,
      })),
    ];
  }
  const widest = Math.min(room, 112) + 4;
  const shift = { start: 12, middle: 0, end: -12 };
  return [
    Plot.text(names, { x: "k", frameAnchor: "top", text: (it) => fitted(it.text, widest), dy: -33, fontWeight: 600 }),
    ...Object.entries(shift).map(([end, dy]) => Plot.text(ticks.filter((it) => ends(it) === end), {
      x: "k", y: "at", text: (it) => fitted(it.text, widest, 11), dy, fontSize: 11, ...halo,
    })),
  ];
}

// Place and text of the ends of an axis, or of every value of a choice.
function ticksOf(axis) {
  if (axis.scale === "choice") return axis.values.map((text, i) => [placeOn(axis, i), text]);
  if (axis.scale === "share") return [[0, "0 %"], [1, "100 %"]];
  return [[0, shortText(axis.low)], [1, shortText(axis.high)]];
}
