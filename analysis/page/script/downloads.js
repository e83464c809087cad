// Every figure as SVG and as PDF, in the colours of paper whatever the theme of the page.

const SVG = "http://www.w3.org/2000/svg";
const KEPT = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "opacity", "font-size", "font-weight", "font-style",
  "text-anchor", "dominant-baseline", "paint-order", "visibility", "display",
];
const EDGE = 4; // pixels around what is drawn, for ends of letters
const FONT = "Helvetica, Arial, sans-serif";
const PDF_FONT = "DejaVu Sans Condensed"; // about as wide; the library for PDF embeds what is used of it
const POINTS = 0.75; // a pixel in points

for (const figure of document.querySelectorAll("figure[id]")) {
  if (!figure.querySelector(".plot[data-kind]")) continue;
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.append(
    button("SVG", figure, () => saveFile(new Blob([svgText(figure)], { type: "image/svg+xml" }), `${figure.id}.svg`)),
    button("PDF", figure, async () => saveFile(await pdfOf(figure), `${figure.id}.pdf`)),
  );
  figure.querySelector("figcaption").after(tools);
}

function button(text, figure, act) {
  const found = document.createElement("button");
  found.type = "button";
  found.className = "link";
  found.textContent = text;
  found.setAttribute("aria-label", `${text} of ${figure.querySelector("figcaption").textContent.trim()}`);
  found.addEventListener("click", act);
  return found;
}

function svgText(figure) {
  return new XMLSerializer().serializeToString(onPaper(figure));
}

async function pdfOf(figure) {
  await loadPdfLibrary();
  const svg = onPaper(figure);
  const [width, height] = ["width", "height"].map((name) => POINTS * Number(svg.getAttribute(name)));
  const pdf = new jsPDF({
    unit: "pt", format: [width, height], orientation: width > height ? "landscape" : "portrait",
    putOnlyUsedFonts: true,
  });
  for (const text of svg.querySelectorAll("[font-family]")) text.setAttribute("font-family", PDF_FONT);
  for (const text of svg.querySelectorAll('text[paint-order^="stroke"]:not([stroke="none"])')) haloBehind(text);
  document.body.append(svg); // its texts are measured
  await pdf.svg(svg, { width, height });
  svg.remove();
  return pdf.output("blob");
}

// The library paints the outline over the letters, whatever their order.
function haloBehind(text) {
  const halo = text.cloneNode(true);
  for (const part of [halo, ...halo.children]) part.setAttribute("fill", "none");
  for (const part of [text, ...text.children]) part.setAttribute("stroke", "none");
  text.before(halo);
}

let pdfLibrary = null;
function loadPdfLibrary() {
  pdfLibrary ??= (async () => {
    const zipped = Uint8Array.from(atob(document.getElementById("pdf-library").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  })();
  return pdfLibrary;
}

// One <svg> of all plots that the figure shows, as they lie, with their computed looks.
function onPaper(figure) {
  document.documentElement.dataset.theme = "paper";
  const parts = [...figure.querySelectorAll(".plot[data-kind] > svg, .plot[data-kind] > .plot-label")]
    .filter((it) => it.getClientRects().length);
  const places = parts.map((it) => it.getBoundingClientRect());
  const left = Math.min(...places.map((it) => it.left)) - EDGE, top = Math.min(...places.map((it) => it.top)) - EDGE;
  const whole = document.createElementNS(SVG, "svg");
  whole.setAttribute("xmlns", SVG);
  parts.forEach((part, i) => {
    const copy = part.matches("svg") ? styledCopy(part) : labelOf(part);
    copy.setAttribute("x", places[i].left - left);
    copy.setAttribute("y", part.matches("svg") ? places[i].top - top : places[i].bottom - top - EDGE);
    whole.append(copy);
  });
  const width = Math.max(...places.map((it) => it.right)) - left + EDGE;
  const height = Math.max(...places.map((it) => it.bottom)) - top + EDGE;
  whole.setAttribute("width", Math.ceil(width));
  whole.setAttribute("height", Math.ceil(height));
  whole.setAttribute("viewBox", `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`);
  delete document.documentElement.dataset.theme;
  return whole;
}

// What distinguishes a plot from the others of its figure, which the page has as HTML.
function labelOf(element) {
  const text = document.createElementNS(SVG, "text");
  text.textContent = element.textContent;
  const { color, fontSize } = getComputedStyle(element);
  for (const [name, value] of [["fill", color], ["font-size", fontSize], ["font-weight", "bold"], ["font-family", FONT]]) {
    text.setAttribute(name, value);
  }
  return text;
}

function styledCopy(plot) {
  const copy = plot.cloneNode(true);
  const elements = [plot, ...plot.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(elements[i]);
    const found = KEPT.map((name) => [name, style.getPropertyValue(name)])
      .filter(([, value]) => value && value !== "auto");
    element.removeAttribute("class");
    element.removeAttribute("style");
    for (const [name, value] of found) {
      element.setAttribute(name, plainValue(name, value));
    }
    element.setAttribute("font-family", FONT);
  });
  copy.setAttribute("overflow", "visible");
  for (const extra of copy.querySelectorAll("style, title")) extra.remove();
  return copy;
}

function plainValue(name, value) {
  if (name === "font-weight") return Number(value) >= 600 ? "bold" : "normal"; // all that PDF has
  return name === "fill" || name === "stroke" ? plainColour(value) : value;
}

// Readers of SVG and PDF know no color-mix.
function plainColour(value) {
  if (!value.startsWith("color(") && !value.startsWith("oklab(")) return value;
  const pen = plainColour.pen ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = value;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return `rgb(${red}, ${green}, ${blue})`;
}
