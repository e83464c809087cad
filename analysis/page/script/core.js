"use strict";

// Kind of plot -> function (values, width in pixels) -> <svg>. Each kind is a file of its own.
const kinds = {};

// Name -> {colour, symbol} of every competitor of the page.
const competitors = JSON.parse(document.getElementById("competitors").textContent);

const colourOf = (name) => competitors[name]?.colour ?? "var(--series-other)";
const symbolOf = (name) => competitors[name]?.symbol ?? "circle";

const FONT_SIZE = 12; // pixels: the least of any text but for ticks, which have 11
const MINUS = "−";

// A plot with the settings of the page: its ink, its font, no background.
function plotOf(width, options) {
  const svg = Plot.plot({
    width,
    marginTop: 24,
    marginBottom: 42,
    ...options,
    style: {
      background: "none",
      color: "currentColor",
      fontFamily: "inherit",
      fontSize: `${FONT_SIZE}px`,
      overflow: "visible",
      ...options.style,
    },
  });
  svg.style.setProperty("--plot-background", "var(--paper)"); // of tips and markers
  return svg;
}

// Option of a mark: names the competitor of each of its elements, so that the page can highlight
// it. nameOf: competitor of a datum; data: what the mark was given.
function tagged(data, nameOf) {
  return {
    render(index, scales, values, dimensions, context, next) {
      const group = next(index, scales, values, dimensions, context);
      for (const element of group.children) {
        const datum = element.__data__; // an index; of a line those of all its points
        const name = nameOf(data[Array.isArray(datum) ? datum[0] : datum]);
        if (name) element.dataset.competitor = name;
      }
      return group;
    },
  };
}

// How wide a text is in pixels.
function widthOf(text, size = FONT_SIZE) {
  const pen = widthOf.pen ??= document.createElement("canvas").getContext("2d");
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

// The text in lines of at most so many pixels, broken after spaces and signs where it can be.
function wrapped(text, room, size = FONT_SIZE) {
  const pieces = text.split(/(?<=[ _+/,-])/).flatMap((it) => widthOf(it.trim(), size) > room ? [...it] : [it]);
  const lines = [""];
  for (const piece of pieces) {
    const longer = lines.at(-1) + piece;
    if (lines.at(-1) && widthOf(longer.trim(), size) > room) lines.push(piece);
    else lines[lines.length - 1] = longer;
  }
  return lines.map((it) => it.trim()).join("\n");
}

// Texts beside an axis in lines that take at most a share of the width: with the room in pixels
// that they need beside it, and how far apart they have to be so that neighbours do not meet.
function labelsOf(texts, width, share) {
  const labels = texts.map((it) => wrapped(it, Math.floor(share * width) - 14));
  const rows = labels.map((it) => it.split("\n"));
  const room = Math.ceil(Math.max(0, ...rows.flat().map((it) => widthOf(it)))) + 14;
  return { labels, room, apart: 3 + FONT_SIZE / 2 * Math.max(...rows.map((it, i) => it.length + (rows[i + 1] ?? it).length)) };
}

// Labels of blocks such as "cub200/resnet50/64" without the parts that all of them share.
function shortened(labels) {
  const parts = labels.map((it) => it.split("/"));
  const differing = parts[0].map((_, i) => i).filter((i) => parts.some((it) => it[i] !== parts[0][i]));
  if (!differing.length || parts.some((it) => it.length !== parts[0].length)) return labels;
  return parts.map((it) => differing.map((i) => it[i]).join("/"));
}

// A number as the page writes it: "3.17", "−0.30", a dash for null.
function numberText(value, digits = 2) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = fixed(value, digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", MINUS);
}

// As toFixed, but halves go to the even digit, as Python has it: 3.125 is "3.12".
function fixed(value, digits) {
  const whole = value.toFixed(digits + 40);
  if (!/50{39}$/.test(whole)) return value.toFixed(digits);
  const cut = whole.slice(0, digits ? -40 : -41);
  return /[02468]$/.test(cut) ? cut : value.toFixed(digits);
}

function signedText(value, digits = 2) {
  const text = numberText(value, digits);
  return /^[\d.]*[1-9]/.test(text) ? `+${text}` : text;
}

// The text of a cell without its smaller second line.
function textOf(cell) {
  return [...cell.childNodes].filter((node) => node.nodeName !== "SMALL")
    .map((node) => node.textContent).join("");
}

// Lets the reader save a file.
function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// Whether a text could be put on the clipboard. Pages from files may have none, so there is a
// second way.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

function copiedBySelection(text) {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "copied";
  (focused?.closest("[popover]") ?? document.body).append(area); // what is below a popover has no focus
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  focused?.focus({ preventScroll: true });
  return isCopied;
}

// First and last value of an axis: its limits, or the range of the values with a margin.
function domainOf(axis, values) {
  if (axis.limits) return axis.limits;
  const isLog = axis.scale === "log";
  const known = values.filter((it) => Number.isFinite(it)).map((it) => isLog ? Math.log(it) : it);
  const low = known.reduce((a, b) => Math.min(a, b), Infinity);
  const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  if (low > high) return isLog ? [1, 10] : [0, 1];
  const margin = 0.05 * (high - low) || (isLog ? Math.LN2 : 1);
  const ends = [low - margin, high + margin];
  return isLog ? ends.map(Math.exp) : ends;
}

// A value of an axis as text.
function textOn(axis, value) {
  const tick = axis.ticks.find(([at]) => at === value);
  if (tick) return tick[1];
  return axis.scale === "log" ? String(Number(value.toPrecision(3))) : numberText(value, Number.isInteger(value) ? 0 : axis.digits);
}

// Options of an x or y axis that is so many pixels long.
function axisOptions(axis, domain, room, { isX }) {
  const options = { type: axis.scale, domain, label: axis.label, labelArrow: "none", ...(isX ? { labelAnchor: "center", labelOffset: 36 } : {}) };
  if (!axis.ticks.length) {
    const most = Math.max(2, Math.min(12, Math.floor(room / (isX ? 55 : 42))));
    const ticks = axis.scale === "log" ? logTicks(domain, most) : axis.digits === 0 ? wholeTicks(domain, most) : most;
    return { ...options, ticks, tickFormat: plainTick };
  }
  const each = room / axis.ticks.length;
  const needed = isX ? Math.max(...axis.ticks.map(([, text]) => widthOf(text) + 10)) : FONT_SIZE + 4;
  const step = axis.is_ordinal ? 1 : Math.max(1, Math.ceil(needed / each));
  const shown = axis.ticks.filter((_, i) => i % step === 0);
  const { labels } = labelsOf(shown.map(([, text]) => text), isX && axis.is_ordinal ? each + 8 : Infinity, 1);
  if (isX) options.labelOffset = 24 + FONT_SIZE * Math.max(...labels.map((it) => it.split("\n").length));
  return { ...options, ticks: shown.map(([at]) => at), tickFormat: (at) => labels[shown.findIndex(([it]) => it === at)] ?? "" };
}

// Whole numbers within the domain, 1, 2 or 5 times a power of 10 apart.
function wholeTicks([one, other], most) {
  const low = Math.min(one, other), high = Math.max(one, other);
  const least = (high - low) / most;
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least || 1)));
  const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= least);
  const first = Math.ceil(low / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, i) => first + i * step);
}

// Powers of 10 within the domain, and 2 and 5 times these where there is room.
function logTicks([low, high], most) {
  const between = (factors) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      found.push(...factors.map((factor) => Number(`${factor}e${power}`)));
    }
    return found.filter((it) => it >= low && it <= high);
  };
  const fine = [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3]].map(between).find((it) => it.length <= most);
  return fine?.length ? fine : between([1]);
}

function plainTick(value) {
  return String(Number(value.toPrecision(6))).replace("-", MINUS);
}

// Room in pixels that the numbers of a y axis need beside it.
function roomForNumbers(axis, domain) {
  const range = Math.abs(domain[1] - domain[0]), digits = range < 0.8 ? 2 : range < 8 ? 1 : 0;
  const texts = axis.ticks.length ? axis.ticks.map(([, text]) => text)
    : domain.map((it) => axis.scale === "log" ? plainTick(Number(it.toPrecision(2))) : numberText(it, digits));
  return Math.max(34, ...texts.map((text) => widthOf(text) + 18));
}

function svgElement(tag, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

// While a competitor of the plot is pointed at, the others of the plot fade.
function fadeOthers(svg) {
  svg.addEventListener("input", () => {
    const name = svg.value?.name;
    for (const it of svg.querySelectorAll("[data-competitor]")) {
      it.style.opacity = name && it.dataset.competitor !== name ? 0.2 : "";
    }
  });
  return svg;
}
