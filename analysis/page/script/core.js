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
  return Plot.plot({
    width,
    marginTop: 24,
    marginBottom: 38,
    ...options,
    style: {
      background: "none",
      color: "currentColor",
      fontFamily: "inherit",
      fontSize: `${FONT_SIZE}px`,
      overflow: "visible",
      "--plot-background": "var(--paper)",
      ...options.style,
    },
  });
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

// Room in pixels that texts need beside the axes; at most a share of the width.
function roomFor(texts, width, { share = 0.4, size = FONT_SIZE } = {}) {
  const longest = Math.max(0, ...texts.map((text) => widthOf(text, size)));
  return Math.min(Math.ceil(longest) + 14, Math.floor(width * share));
}

// The text, cut so that it fits into that many pixels beside the axes.
function fitted(text, room, size = FONT_SIZE) {
  let shown = text;
  while (shown.length > 3 && widthOf(shown, size) > room - 12) shown = `${shown.slice(0, -2)}…`;
  return shown;
}

// A number as the page writes it: "3.17", "−0.30", a dash for null.
function numberText(value, digits = 2) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", MINUS);
}

function signedText(value, digits = 2) {
  const text = numberText(value, digits);
  return Number(value?.toFixed(digits)) > 0 ? `+${text}` : text;
}

// A colour between behind (-1), neutral (0) and ahead (1), in the theme of the page.
function diverging(share) {
  const end = share < 0 ? "var(--behind)" : "var(--ahead)";
  return `color-mix(in srgb, ${end} ${(100 * Math.min(1, Math.abs(share))).toFixed(1)}%, var(--neutral))`;
}

// A colour between nothing (0) and all (1), in the theme of the page.
function sequential(share) {
  return `color-mix(in srgb, var(--all) ${(100 * Math.max(0, Math.min(1, share))).toFixed(1)}%, var(--neutral))`;
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
