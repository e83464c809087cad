// Every figure as SVG and as PNG, in the colours of paper whatever the theme of the page.

const SVG = "http://www.w3.org/2000/svg";
const KEPT = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "opacity", "font-size", "font-weight", "font-style",
  "text-anchor", "dominant-baseline", "paint-order", "visibility", "display",
];
const EDGE = 4; // pixels around what is drawn, for ends of letters
const FONT = "Helvetica, Arial, sans-serif";
const SCALE = 3; // pixels of a PNG for each of the page

for (const figure of document.querySelectorAll("figure[id]")) {
  if (!figure.querySelector(".plot[data-kind]")) continue;
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.append(
    button("SVG", figure, () => saveFile(new Blob([svgText(figure)], { type: "image/svg+xml" }), `${figure.id}.svg`)),
    button("PNG", figure, async () => saveFile(await pngOf(figure), `${figure.id}.png`)),
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

async function pngOf(figure) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(figure))}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * picture.width;
  canvas.height = SCALE * picture.height;
  const pen = canvas.getContext("2d");
  pen.fillStyle = "white";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
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
  if (name === "font-weight") return Number(value) >= 600 ? "bold" : "normal";
  return name === "fill" || name === "stroke" ? plainColour(value) : value;
}

// Readers of SVG know no color-mix.
function plainColour(value) {
  if (!value.startsWith("color(") && !value.startsWith("oklab(")) return value;
  const pen = plainColour.pen ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = value;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return `rgb(${red}, ${green}, ${blue})`;
}
