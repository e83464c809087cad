"use strict";

// Tables: pressing a column's head sorts by it; pressing again turns the order round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...[...table.tHead.rows].at(-1).cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(table, heads, column));
  });
}

function sortBy(table, heads, column) {
  const ascending = heads[column].getAttribute("aria-sort") !== "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => compare(orderOf(a, column), orderOf(b, column), ascending));
  table.tBodies[0].append(...rows);
}

function orderOf(row, column) {
  const order = row.cells[column].dataset.order;
  const number = Number(order);
  return order === undefined || order === "" || Number.isNaN(number) ? order : number;
}

// Cells without an order come last either way.
function compare(a, b, ascending) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  const sign = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(b);
  return ascending ? sign : -sign;
}

// Only boxes that do scroll are stops for the keyboard.
function markScrollers() {
  for (const box of document.querySelectorAll(".scroll, .plots")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
markScrollers();
addEventListener("resize", markScrollers);
document.addEventListener("toggle", markScrollers, true);

// On paper nothing can be opened.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
