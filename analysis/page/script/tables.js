// Rows of tables are filtered by a text, and sorted by a column.

const FILTERED_FROM = 9; // rows
let isMarking = false;

for (const table of document.querySelectorAll(".scroll > table[id]")) {
  const tools = document.createElement("div");
  tools.className = "tools";
  if (table.tBodies[0].rows.length >= FILTERED_FROM) tools.append(...filterOf(table));
  table.parentElement.before(tools);
  makeSortable(table);
}

function headsOf(table) {
  return [...table.tHead.rows].at(-1).cells;
}

// A row is shown if any of its cells holds the text.
function filterOf(table) {
  const rows = [...table.tBodies[0].rows];
  const input = document.createElement("input");
  input.type = "search";
  input.autocomplete = "off";
  const shown = document.createElement("span");
  shown.setAttribute("role", "status");
  const show = () => {
    const wanted = input.value.trim().toLowerCase();
    const isShown = (row) => [...row.cells].some((cell) => cell.textContent.trim().toLowerCase().includes(wanted));
    for (const row of rows) row.hidden = !isShown(row);
    shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    markScrollers();
  };
  input.setAttribute("aria-controls", table.id);
  input.addEventListener("input", show);
  const label = document.createElement("label");
  label.append("Filter rows ", input);
  show();
  return [label, shown];
}

// Pressing a column's head sorts by it, what is best first; pressing again turns the order round.
function makeSortable(table) {
  const heads = [...headsOf(table)];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(table, heads, column));
  });
}

function sortBy(table, heads, column) {
  const first = "descending" in heads[column].dataset ? "descending" : "ascending";
  const second = first === "ascending" ? "descending" : "ascending";
  const order = heads[column].getAttribute("aria-sort") === first ? second : first;
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", order);
  const body = table.tBodies[0];
  body.written ??= [...body.rows]; // for what saves the table
  const rows = [...body.rows];
  rows.sort((a, b) => compare(orderOf(a, column), orderOf(b, column), order === "ascending"));
  body.append(...rows);
}

function orderOf(row, column) {
  const cell = row.cells[column];
  if (!("order" in cell.dataset)) {
    return cell.classList.contains("number") ? undefined : textOf(cell) || undefined;
  }
  const number = Number(cell.dataset.order);
  return cell.dataset.order === "" || Number.isNaN(number) ? cell.dataset.order : number;
}

// Cells without an order come last either way.
function compare(a, b, ascending) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  const sign = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(b);
  return ascending ? sign : -sign;
}

// A table that is wider than its box gets smaller type; if it still is, its rows become blocks in
// which each value is below its label. Only boxes that do scroll are stops for the keyboard. What is
// folded away is not measured, since that would lay it out, and all are measured before any is
// changed.
function markScrollers() {
  if (isMarking) return;
  isMarking = true;
  requestAnimationFrame(() => {
    isMarking = false;
    const boxes = [...document.querySelectorAll(".scroll, .plots")].filter((it) => it.checkVisibility());
    fit(boxes.filter((box) => box.matches(".scroll") && box.fittedWidth !== box.clientWidth));
    const scrolls = boxes.map((box) =>
      box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight);
    boxes.forEach((box, i) => {
      if (scrolls[i]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  });
}

function fit(boxes) {
  for (const box of boxes) box.classList.remove("tight", "stacked");
  for (const way of ["tight", "stacked"]) {
    const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth);
    for (const box of wide) box.classList.add(way);
    if (way === "stacked") wide.forEach(label);
  }
  for (const box of boxes) box.fittedWidth = box.clientWidth;
}

function label(box) {
  const labels = [...headsOf(box.querySelector("table"))].map((head) => head.dataset.name ?? head.textContent);
  for (const row of box.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, i) => cell.dataset.label = labels[i]);
  }
}

markScrollers();
addEventListener("resize", markScrollers);
document.addEventListener("toggle", markScrollers, true);
