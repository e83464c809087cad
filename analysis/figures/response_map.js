// The score over two hyperparameters: coloured cells, configs as dots, and the key of the colours.

const PLOT_HEIGHT = 250;
const KEY = 34; // pixels above the map
const SHADES = 24;

kinds.response_map = (values, width) => {
  const { loss, axes: [across, up], published, cells } = values;
  const margins = { marginTop: KEY + 32, marginBottom: 44, marginRight: 12 };
  const vertical = scaleAlong(up, PLOT_HEIGHT - 110, { each: 40 });
  const data = cells.median.map((median, i) => ({
    x1: cells.x1[i], x2: cells.x2[i], y1: cells.y1[i], y2: cells.y2[i], median, count: cells.count[i],
  }));
  const reach = Math.max(...data.map((it) => Math.abs(it.median)), 1e-6);
  const labels = up.scale === "choice" ? up.values : [shortText(up.low), shortText(up.high), "0.0005"];
  const marginLeft = roomFor(labels, width, { share: 0.3 }) + 6;
  if (up.scale === "choice") vertical.tickFormat = (i) => fitted(up.values[i], marginLeft - 2);
  const configs = configsOf(values);
  const others = configs.filter((it) => !it.isBest), best = configs.filter((it) => it.isBest);
  const defaults = published && published.values.every((it) => it !== null) ? [published] : [];
  const x = (it) => within(across, it.values[0]), y = (it) => within(up, it.values[1]);
  const cellText = (it) => [
    `median ${signedText(it.median)} points, ${it.count} configs`,
    `${across.name} ${spanText(across, it.x1, it.x2)}`,
    `${up.name} ${spanText(up, it.y1, it.y2)}`,
  ].join("\n");
  const marked = [
    ...data.map((it) => ({ x: middle(across, it.x1, it.x2), y: middle(up, it.y1, it.y2), text: cellText(it) })),
    ...[...configs, ...defaults].map((it) => ({ x: x(it), y: y(it), text: configText(it, values) })),
  ];
  const svg = plotOf(width, {
    height: PLOT_HEIGHT, marginLeft, ...margins,
    x: { ...scaleAlong(across, width - marginLeft - margins.marginRight), labelAnchor: "center" },
    y: { ...vertical, label: null },
    marks: [
      Plot.rect(data, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", inset: 0.5, fill: (it) => diverging(it.median / reach) }),
      Plot.dot(others, { x, y, r: 2.4, fill: "currentColor", fillOpacity: 0.55, stroke: "var(--paper)", strokeWidth: 0.6 }),
      Plot.dot(best, { x, y, r: 5.5, symbol: "star", fill: "currentColor", stroke: "var(--paper)", strokeWidth: 1 }),
      Plot.dot(defaults, { x, y, r: 5, symbol: "diamond", fill: "var(--paper)", stroke: "currentColor", strokeWidth: 1.6 }),
      Plot.text([up.name], { frameAnchor: "top-left", dx: 2 - marginLeft, dy: -18, textAnchor: "start" }),
      Plot.tip(marked, Plot.pointer({ x: "x", y: "y", title: "text", ...tipWidth(width) })),
    ],
  });
  svg.append(keyOf(reach, width));
  return svg;
};

function middle(axis, low, high) {
  return axis.scale === "log" ? Math.sqrt(low * high) : (low + high) / 2;
}

function spanText(axis, low, high) {
  if (axis.scale === "choice") return axis.values[Math.round((low + high) / 2)];
  return `${valueText(axis, low)} to ${valueText(axis, high)}`;
}

// The colours, from the worst to the best, with what they mean.
function keyOf(reach, width) {
  const shades = Array.from({ length: SHADES }, (_, i) => -1 + 2 * i / SHADES);
  return plotOf(width, {
    height: KEY + 12, marginTop: 18, marginBottom: 18, marginLeft: 20, marginRight: Math.max(20, width - 320),
    x: { domain: [-1, 1], label: null, ticks: [-1, 0, 1], tickSize: 0, tickPadding: 3, tickFormat: (it) => signedText(it * reach, 1) },
    y: { axis: null },
    marks: [
      Plot.rect(shades, { x1: (it) => it, x2: (it) => it + 2 / SHADES, y1: 0, y2: 1, fill: (it) => diverging(it + 1 / SHADES) }),
      Plot.text(["Median, points above the median config"], { frameAnchor: "top-left", dy: -15, dx: -18, textAnchor: "start", fontSize: 11, fill: "var(--muted)" }),
    ],
  });
}
