// Competitors by average rank with score and gain in columns.

const TALLEST_ROW = 56, PLOT_HEIGHT = 390; // pixels
const TICK = 22; // pixels that a number of the axis needs
const MOST_TICKS = 12;
const INSET = 8; // pixels between the ends of the axis and its edges

kinds.ranking = ({ rows, score, gain, last }, width) => {
  const isNarrow = width < 560;
  const names = rows.map((it) => `${it.rank_text}  ${it.name}`);
  const { labels, room: left, apart } = labelsOf(names, width, isNarrow ? 0.4 : 0.3);
  const row = Math.max(apart, Math.min(TALLEST_ROW, PLOT_HEIGHT / rows.length));
  const column = isNarrow ? 54 : 92;
  const right = (gain ? 2 : 1) * column + 12;
  const end = width - 4;
  const tip = (it) => [
    it.name,
    `average rank ${numberText(it.rank)}`,
    `${score}: ${numberText(it.score)}`,
    ...(it.gain === null ? [] : [`${gain}: ${signedText(it.gain)} points`]),
  ].join("\n");
  const ticks = rankTicks(last, width - left - right);
  const text = (x, channel, options = {}) => Plot.text(rows, {
    y: "name", frameAnchor: "right", dx: x - width + right, textAnchor: "end", text: channel,
    fontVariant: "tabular-nums", ...tagged(rows, (it) => it.name), ...options,
  });
  const head = (x, label) => Plot.text([label], {
    frameAnchor: "top-right", dx: x - width + right, dy: -16, textAnchor: "end", fill: "var(--muted)", fontSize: 11,
  });
  return plotOf(width, {
    height: 24 + 42 + row * rows.length,
    marginLeft: left, marginRight: right,
    x: { domain: [1, last], label: "Average rank (1 is best) →", labelAnchor: "center", labelOffset: 36, ticks, tickFormat: "d", inset: INSET },
    y: { domain: rows.map((it) => it.name), label: null, tickSize: 0, padding: 0.2,
      tickFormat: (name) => labels[rows.findIndex((it) => it.name === name)] },
    marks: [
      Plot.gridX(ticks, { strokeOpacity: 0.12 }),
      Plot.dot(rows, { y: "name", x: "rank", r: 5, fill: (it) => colourOf(it.name), symbol: (it) => symbolOf(it.name), ...tagged(rows, (it) => it.name) }),
      text(gain ? end - column : end, (it) => numberText(it.score)),
      head(gain ? end - column : end, isNarrow ? score.replace(/,.*/, "") : score),
      ...(gain ? [
        text(end, (it) => signedText(it.gain), { fill: (it) => it.gain === null ? "var(--muted)" : it.gain < 0 ? "var(--bad)" : "var(--good)" }),
        head(end, isNarrow ? "Gain" : gain),
      ] : []),
      Plot.tip(rows, Plot.pointerY({ y: "name", x: "rank", title: tip })),
    ],
  });
};

// Every rank, or the first and round ones where these are too many.
function rankTicks(last, room) {
  const most = Math.min(MOST_TICKS, Math.max(1, room / TICK));
  const step = [1, 5, 10, 20, 50].find((it) => last / it <= most) ?? 100;
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => Math.max(1, i * step)).filter((it, i, all) => it !== all[i - 1]);
}
