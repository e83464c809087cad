// Draws every plot of the page at the width it has, anew when that changes. Plots that are folded
// away have no width and are drawn when they are shown.

const SLICE = 24; // milliseconds of drawing between two frames
const waiting = new Set();
let isScheduled = false;

const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) waiting.add(target);
  schedule();
});
const boxes = [...document.querySelectorAll(".plot[data-kind]")];
for (const box of boxes) observer.observe(box);
schedule(); // to say that all is drawn, also of a page without plots

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  delete document.documentElement.dataset.drawn;
  requestAnimationFrame(() => setTimeout(drawSome));
}

function drawSome() {
  isScheduled = false;
  const end = performance.now() + SLICE;
  for (const box of waiting) {
    waiting.delete(box);
    draw(box);
    if (performance.now() > end) break;
  }
  if (waiting.size) schedule();
  else finish();
}

// A permalink is followed again once the plots above its target have their heights.
function finish() {
  document.documentElement.dataset.drawn = "true";
  if (!finish.isDone && location.hash) document.querySelector(location.hash)?.scrollIntoView();
  finish.isDone = true;
}

// Paper has another width, and is printed before an observer hears of it.
matchMedia("print").addEventListener("change", () => {
  const widths = boxes.map((box) => box.clientWidth);
  boxes.forEach((box, i) => draw(box, widths[i]));
});

function draw(box, room = box.clientWidth) {
  const width = Math.floor(room);
  if (!width || box.drawnWidth === width) return;
  box.drawnWidth = width;
  const values = JSON.parse(box.querySelector("script").textContent);
  const svg = kinds[box.dataset.kind](values, width);
  svg.setAttribute("aria-hidden", "true"); // the box has its name and description
  box.querySelector(":scope > svg")?.remove();
  box.append(svg);
}
