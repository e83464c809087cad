// The score along one hyperparameter: configs as dots, the response curve with its band.

const HEIGHT = 180;

kinds.slices = (values, width) => {
  const { loss, axes: [axis], published, gain_range: [low, high], region, curve } = values;
  const margins = { marginLeft: 46, marginRight: 12, marginTop: 24, marginBottom: 44 };
  const colour = colourOf(loss);
  const configs = configsOf(values).sort((a, b) => a.isBest - b.isBest);
  const others = configs.filter((it) => !it.isBest), best = configs.filter((it) => it.isBest);
  const bins = binsOf(axis, curve);
  const defaults = published && published.values[0] !== null ? [published] : [];
  const place = (it) => within(axis, it.values[0]);
  const height = (it) => Math.max(low, Math.min(high, it.gain));
  const marked = [
    ...configs.map((it) => ({ x: place(it), y: it.gain, text: configText(it, values) })),
    ...defaults.map((it) => ({ x: place(it), y: height(it), text: configText(it, values) })),
    ...bins.map((it) => ({ x: it.x, y: it.median, text: binText(axis, it) })),
  ];
  const of = (data) => tagged(data, () => loss);
  return plotOf(width, {
    height: HEIGHT, ...margins, inset: 4,
    x: { ...scaleAlong(axis, width - margins.marginLeft - margins.marginRight), labelAnchor: "center" },
    y: { domain: [low, high], ticks: 4, label: "Points above the median config", labelArrow: "none", tickFormat: (it) => shortText(it) },
    marks: [
      Plot.ruleY([0], { stroke: "currentColor", strokeOpacity: 0.5, strokeDasharray: "4 3" }),
      Plot.dot(others, { x: place, y: "gain", r: 2.4, fill: "currentColor", fillOpacity: others.length > 150 ? 0.25 : 0.4 }),
      ...(region ? [Plot.ruleY([low], { x1: region[0], x2: region[1], stroke: colour, strokeWidth: 6, strokeLinecap: "round", dy: 2, ...of([low]) })] : []),
      ...(axis.scale === "choice" ? steps(bins, colour, of) : line(bins, colour, of)),
      Plot.dot(best, { x: place, y: "gain", r: 5, symbol: "star", fill: colour, stroke: "var(--paper)", strokeWidth: 0.8, ...of(best) }),
      Plot.dot(defaults, { x: place, y: height, r: 5, symbol: "diamond", fill: "var(--paper)", stroke: "currentColor", strokeWidth: 1.6 }),
      Plot.tip(marked, Plot.pointer({ x: "x", y: "y", title: "text", ...tipWidth(width) })),
    ],
  });
};

function binsOf(axis, curve) {
  return curve.median.map((median, i) => {
    const left = curve.left[i], right = curve.right[i];
    const x = axis.scale === "log" ? Math.sqrt(left * right) : (left + right) / 2;
    return { left, right, x, median, low: curve.low[i], high: curve.high[i], count: curve.count[i] };
  });
}

function binText(axis, { left, right, x, median, low, high, count }) {
  const text = (value) => axis.scale === "share" ? `${numberText(100 * value, 0)} %` : valueText(axis, value);
  const where = axis.scale === "choice" ? axis.values[Math.round(x)] : `${text(left)} to ${text(right)}`;
  return [
    `median ${signedText(median)} points to the median config`,
    `95 % interval ${signedText(low)} to ${signedText(high)}`,
    `${count} configs with ${axis.name} ${where}`,
  ].join("\n");
}

// Values without order are not joined.
function steps(bins, stroke, of) {
  const x1 = (it) => it.x - 0.32, x2 = (it) => it.x + 0.32;
  return [
    Plot.rect(bins, { x1, x2, y1: "low", y2: "high", fill: stroke, fillOpacity: 0.22, ...of(bins) }),
    Plot.ruleY(bins, { x1, x2, y: "median", stroke, strokeWidth: 2.4, ...of(bins) }),
  ];
}

// The line and its band break where too few configs lie.
function line(bins, stroke, of) {
  const data = bins.flatMap((it, i) => {
    const next = bins[i + 1];
    const isGap = next && Math.abs(next.left - it.right) > 1e-6 * Math.abs(it.right);
    return isGap ? [it, { x: it.right, median: NaN, low: NaN, high: NaN }] : [it];
  });
  return [
    Plot.areaY(data, { x: "x", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.22, ...of(data) }),
    Plot.line(data, { x: "x", y: "median", stroke, strokeWidth: 2.4, marker: "dot", ...of(data) }),
  ];
}
