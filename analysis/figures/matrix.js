// Cells in rows and columns, coloured by value, with a key; numbers where there is room.

const TEXT = 11; // pixels, of numbers in cells
const LEAST_LINE = 14, MOST_LINE = 28; // pixels: height of a row
const MANY = 24, MANY_LINE = 17; // rows that are lower, and their height at most
const MOST_CELL = 110; // pixels: width of a column
// Share of the scale up to which black is read best on it in the light theme, and white in the dark
// one; between these, black is in both. Blue and orange have other lightnesses.
const PALE = { all: [0.77, 0.53], ahead: [0.92, 0.65], behind: [1, 0.64] };
const SHADES = 25; // of the key, odd for a neutral middle
const KEY_HEIGHT = 46;
const KEY_INSET = 20; // pixels, for the numbers at its ends

kinds.matrix = (values, width) => {
  const { rows, columns, cells, framed, framedText, joint, details, tagged: side, scale } = values;
  const data = rows.flatMap((_, row) => columns.map((_, column) => ({ row, column, value: cells[row][column] })))
    .filter((it) => it.value !== null);
  const left = roomFor(rows, width, { share: width < 560 ? 0.34 : 0.3 });
  const shortColumns = shortened(columns);
  const longest = Math.max(...shortColumns.map((it) => widthOf(it)));
  const cell = Math.min(MOST_CELL, (width - left - 10) / columns.length);
  const isFlat = longest + 6 <= cell;
  const room = Math.min(longest + 12, 180); // of a label that is not flat
  const isSlanted = !isFlat && cell >= 24 && 0.72 * room < 0.2 * width;
  const beside = isSlanted ? 0.72 * room : 10; // what the last label needs
  const right = Math.max(beside, width - left - MOST_CELL * columns.length);
  const step = (width - left - right) / columns.length;
  const top = isFlat ? 24 : isSlanted ? 0.72 * room + 12 : room + 6;
  const line = Math.max(LEAST_LINE, Math.min(rows.length > MANY ? MANY_LINE : MOST_LINE, step));
  const every = Math.max(1, Math.ceil(13 / step)); // of the columns, every so manyth has a label
  const write = (it) => plainText(it.value, scale);
  const hasText = line >= TEXT + 3 && Math.max(...data.map((it) => widthOf(write(it), TEXT))) + 3 <= step;
  const nameOf = (it) => side === "rows" ? rows[it.row] : side === "columns" ? columns[it.column] : null;
  const frames = framed.map(([row, column]) => ({ row, column }));
  const isFramed = new Set(framed.map(String));
  const title = (it) => [
    `${rows[it.row]} ${joint} ${columns[it.column]}`,
    `${scale.label}: ${numberIn(it.value, scale)}`,
    ...(details.length && details[it.row][it.column] ? [details[it.row][it.column]] : []),
    ...(isFramed.has(`${it.row},${it.column}`) ? [framedText] : []),
  ].join("\n");
  const labels = columns.map((_, i) => i).filter((i) => i % every === 0);
  const svg = plotOf(width, {
    height: top + line * rows.length + 8 + KEY_HEIGHT * keyLines(width, framedText),
    marginTop: top, marginLeft: left, marginRight: right,
    marginBottom: 8 + KEY_HEIGHT * keyLines(width, framedText),
    x: { type: "band", domain: columns.map((_, i) => i), axis: null, padding: 0 },
    y: { type: "band", domain: rows.map((_, i) => i), label: null, tickSize: 0, padding: 0, tickFormat: (i) => fitted(rows[i], left) },
    marks: [
      Plot.cell(data, {
        x: "column", y: "row", inset: 0.5, fill: (it) => shade(it.value, scale), ...tagged(data, nameOf),
      }),
      Plot.cell(frames, { x: "column", y: "row", inset: 1.25, fill: "none", stroke: "currentColor", strokeWidth: step < 14 ? 0.6 : 1.5, ...tagged(frames, nameOf) }),
      ...(hasText ? [Plot.text(data, { x: "column", y: "row", text: write, fontSize: TEXT, fill: (it) => inkOn(it.value, scale), ...tagged(data, nameOf) })] : []),
      Plot.text(labels, {
        x: (i) => i, frameAnchor: "top", dy: -6, text: (i) => fitted(shortColumns[i], isFlat ? cell + 12 : room + 2),
        rotate: isFlat ? 0 : isSlanted ? -45 : -90, textAnchor: isFlat ? "middle" : "start", lineAnchor: isFlat ? "bottom" : "middle",
        ...tagged(labels, (i) => side === "columns" || columns === rows ? columns[i] : null),
      }),
      Plot.tip(data, Plot.pointer({ x: "column", y: "row", title })),
    ],
  });
  const key = scaleKey(scale, framed.length ? framedText : "", width); // below the cells
  key.setAttribute("y", svg.getAttribute("height") - key.getAttribute("height"));
  svg.append(key);
  return svg;
};

// -1 to 1 of a diverging scale, 0 to 1 of others.
function shareOf(value, { start, end, isDiverging }) {
  const share = end === start ? (isDiverging ? 0.5 : 0) : (value - start) / (end - start);
  return isDiverging ? 2 * share - 1 : share;
}

const shade = (value, scale) => (scale.isDiverging ? diverging : sequential)(shareOf(value, scale));

function inkOn(value, scale) {
  const share = shareOf(value, scale);
  const [light, dark] = PALE[!scale.isDiverging ? "all" : share < 0 ? "behind" : "ahead"];
  return Math.abs(share) <= dark ? "var(--on-pale)" : Math.abs(share) <= light ? "#000" : "var(--on-deep)";
}

// Within a cell: as short as its digits allow.
function plainText(value, { digits, isSigned }) {
  if (digits === 0 && !Number.isInteger(value)) return numberText(value, 1);
  return isSigned ? signedText(value, digits) : numberText(value, digits);
}

const numberIn = (value, scale) => plainText(value, { ...scale, digits: scale.digits && scale.digits + 1 });

const keyLines = (width, framedText) => width < 560 && framedText ? 1.5 : 1;

function scaleKey(scale, framedText, width) {
  const { start, end, isDiverging } = scale;
  const across = Math.min(width - 2 * KEY_INSET, 300);
  const value = (i) => start + (end - start) * i / SHADES;
  const isNarrow = width < 560;
  const note = framedText ? [`▢ ${framedText}`] : [];
  return plotOf(width, {
    height: KEY_HEIGHT * (isNarrow && framedText ? 1.5 : 1),
    marginTop: 20, marginBottom: 18 + (isNarrow && framedText ? 0.5 * KEY_HEIGHT : 0), marginLeft: KEY_INSET, marginRight: width - across - KEY_INSET,
    x: { domain: [start, end], label: null, tickSize: 0, tickPadding: 3, ticks: isDiverging ? [start, (start + end) / 2, end] : [start, end],
      tickFormat: (it) => plainText(it, scale) },
    marks: [
      Plot.rect(Array.from({ length: SHADES }, (_, i) => i), { x1: value, x2: (i) => value(i + 1), y1: 0, y2: 1, fill: (i) => shade(value(isDiverging ? i + 0.5 : i + 1), scale) }),
      Plot.text([scale.label], { frameAnchor: "top-left", dx: 2 - KEY_INSET, dy: -16, textAnchor: "start", fill: "var(--muted)", fontSize: 11 }),
      Plot.text(note, isNarrow
        ? { frameAnchor: "bottom-left", dx: 2 - KEY_INSET, dy: 36, textAnchor: "start", fontSize: 11 }
        : { frameAnchor: "bottom-right", dx: 24, textAnchor: "start", fontSize: 11 }),
    ],
    y: { axis: null },
  });
}
