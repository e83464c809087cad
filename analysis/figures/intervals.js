// Rows of estimates with intervals: dots or bars, dots of single runs, columns of texts.

const HEAD_SHARE = 0.34; // of the width, that columns of texts may take
const FIRST_COLOUR = "var(--series-0)";

kinds.intervals = (values, width) => {
  const { looks, axis, reference, region, regionLabel, domain, words, heads, isBars } = values;
  const { lines, rows } = linesOf(rowsOf(values.rows));
  const known = rows.filter((it) => it.value !== null);
  const isGrouped = lines.some((it) => it.head !== undefined);
  const isShared = rows.some((it, i) => i > 0 && it.y === rows[i - 1].y);
  const hasDots = rows.some((it) => it.dots.length);
  const names = shortened(lines.map((it) => it.name ?? ""));
  const { labels, room, apart } = labelsOf(names, width, width < 560 ? 0.4 : 0.3);
  const left = room + (isGrouped ? 6 : 0);
  const usual = (lines.length > 24 ? 17 : lines.length > 8 ? 21 : 25) + (hasDots ? 5 : 0) + (isShared ? 6 : 0);
  const line = Math.max(apart, usual);
  const columns = columnsOf(rows, heads, width);
  const right = columns.reduce((sum, it) => sum + it.room, 14);
  const colour = (it) => looks[it.competitor]?.[0] ?? FIRST_COLOUR;
  const symbol = (it) => looks[it.competitor]?.[1] ?? "circle";
  const [start, end] = domain;
  const inside = (value) => Math.max(start, Math.min(end, value));
  const of = (data) => tagged(data, (it) => it.competitor);
  const stroke = (it) => isBars ? "var(--ink)" : colour(it);
  const spans = known.flatMap((it) => spanOf(it, it.low, it.high, end));
  const cut = spans.flatMap((it) => [
    ...(it.low < start ? [{ ...it, at: start, rotate: -90 }] : []),
    ...(it.isOpen || it.high > end ? [{ ...it, at: end, rotate: 90 }] : []),
  ]);
  const dots = rows.flatMap((it) => it.dots.map((value) => ({ ...it, dot: value })));
  const lift = hasDots && !isBars ? 4 : 0; // pixels: dots above, their mean below
  const shift = { dy: lift };
  return plotOf(width, {
    height: 60 + line * lines.length,
    marginTop: heads.length || regionLabel ? 30 : 10,
    marginLeft: left, marginRight: right,
    x: { domain, ticks: Math.max(2, Math.floor((width - left - right) / 70)), label: wrapped(axis, width - right - 20), labelAnchor: widthOf(axis) < width - left - right ? "center" : "right", labelOffset: 36, labelArrow: "none" },
    y: { type: "band", domain: lines.map((_, i) => i), label: null, tickSize: 0, padding: 0,
      tickFormat: (i) => labels[i] },
    marks: [
      ...(region ? [
        Plot.rect([0], { x1: inside(region[0]), x2: inside(region[1]), fill: "var(--muted)", fillOpacity: 0.16 }),
        regionText(values, width - left - right, inside),
      ] : []),
      Plot.gridX({ strokeOpacity: 0.12 }),
      ...(reference === null ? [] : [Plot.ruleX([reference], { stroke: "currentColor", strokeDasharray: isBars ? null : "4 3" })]),
      ...(isShared ? [Plot.ruleY(lines, { y: "y", strokeOpacity: 0.12 })] : []),
      Plot.text(lines.filter((it) => it.head !== undefined), {
        y: "y", frameAnchor: "left", dx: 4 - left, textAnchor: "start", fontWeight: 600, text: (it) => wrapped(it.head, width - 12),
        stroke: "var(--paper)", strokeWidth: 4, fill: "currentColor", paintOrder: "stroke",
      }),
      ...(isBars ? [Plot.barX(known, {
        y: "y", x1: 0, x2: (it) => inside(it.value), insetTop: line / 6, insetBottom: line / 6, stroke: colour, fill: (it) => it.isHollow ? "none" : colour(it), fillOpacity: 0.6, ...of(known),
      })] : []),
      Plot.ruleY(spans, { y: "y", x1: (it) => inside(it.low), x2: (it) => inside(it.high), stroke, strokeWidth: 2, strokeOpacity: 0.8, ...shift, ...of(spans) }),
      Plot.dot(cut, { y: "y", x: "at", rotate: "rotate", symbol: "triangle", r: 3.5, fill: stroke, ...shift, ...of(cut) }),
      Plot.dot(dots, { y: "y", x: "dot", r: 2.4, fill: colour, fillOpacity: 0.65, dy: -lift, ...of(dots) }),
      ...(isBars ? [] : [Plot.dot(known, {
        y: "y", x: (it) => inside(it.value), r: 4.5, symbol, stroke: colour, strokeWidth: 1.8, fill: (it) => it.isHollow ? "var(--paper)" : colour(it), ...shift, ...of(known),
      })]),
      ...columns.flatMap(({ head, index, place }) => [
        Plot.text([head], { frameAnchor: "top-right", dx: place, dy: -16, textAnchor: "end", fill: "var(--muted)", fontSize: 11 }),
        Plot.text(rows, { y: "y", frameAnchor: "right", dx: place, textAnchor: "end", text: (it) => it.columns[index], fontVariant: "tabular-nums", ...of(rows) }),
      ]),
      Plot.tip(rows, (isShared ? Plot.pointer : Plot.pointerY)({ y: "y", x: (it) => inside(it.value ?? it.dots[0] ?? start), title: (it) => tipOf(it, words, heads, isShared) })),
    ],
  });
};

// The name of the shaded region above it, within the frame wherever the region is.
function regionText({ region, regionLabel, domain }, across, inside) {
  const middle = (inside(region[0]) + inside(region[1])) / 2;
  const share = (middle - domain[0]) / (domain[1] - domain[0]);
  const [x, textAnchor] = share > 0.6 ? [inside(region[1]), "end"] : share < 0.4 ? [inside(region[0]), "start"] : [middle, "middle"];
  return Plot.text([wrapped(regionLabel, across, 11)], { x: () => x, textAnchor, frameAnchor: "top", lineAnchor: "bottom", dy: -4, fill: "var(--muted)", fontSize: 11 });
}

// Fields as lists -> rows, with what is left out where no row has it.
function rowsOf(fields) {
  return fields.name.map((name, i) => {
    const field = (key, other) => fields[key]?.[i] ?? other;
    return {
      name, group: field("group", ""), competitor: field("competitor", null),
      value: field("value", null), low: field("low", null), high: field("high", null),
      isHollow: field("isHollow", false),
      dots: field("dots", []), columns: field("columns", []), note: field("note", ""),
    };
  });
}

// Lines from the top: the head of each group, and a line for rows of one name, which share it.
function linesOf(fields) {
  const lines = [];
  const rows = fields.map((row, i) => {
    const { group, name } = fields[i - 1] ?? {};
    if (row.group && row.group !== group) lines.push({ head: row.group, y: lines.length });
    if (row.group !== group || row.name !== name) lines.push({ name: row.name, y: lines.length });
    return { ...row, y: lines.length - 1 };
  });
  return { lines, rows };
}

// An interval without an upper end is open above.
function spanOf(row, low, high, end) {
  return low === null ? [] : [{ ...row, low, high: high ?? end, isOpen: high === null }];
}

// As many columns as there is room for, each with its right end in pixels from the frame.
function columnsOf(rows, heads, width) {
  const rooms = heads.map((head, i) =>
    16 + Math.ceil(Math.max(widthOf(head, 11), ...rows.map((row) => widthOf(row.columns[i] ?? "")))));
  const columns = [];
  let place = 0;
  rooms.forEach((room, index) => {
    if (place + room > HEAD_SHARE * width) return;
    place += room;
    columns.push({ head: heads[index], index, room, place });
  });
  return columns;
}

function tipOf(row, words, heads, isShared) {
  const interval = (low, high) => low === null ? ""
    : ` (${words.interval} ${high === null ? `from ${numberText(low)}` : `${numberText(low)} to ${numberText(high)}`})`;
  return [
    [isShared ? row.competitor : "", row.group, row.name].filter(Boolean).join(", "),
    `${words.value}: ${row.value === null ? "unknown" : numberText(row.value) + interval(row.low, row.high)}`,
    ...(row.dots.length ? [`${words.dots} ${row.dots.map((it) => numberText(it)).join(", ")}`] : []),
    ...heads.map((head, i) => `${head}: ${row.columns[i] ?? "–"}`),
    ...(row.note ? [row.note] : []),
  ].join("\n");
}
