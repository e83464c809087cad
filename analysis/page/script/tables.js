// Tables are sorted, filtered and saved.

const FILTERED_FROM = 9; // rows
// As in analysis/page/table_files.py.
const NUMBER = /^[<>]?\s*[+−-]?\d[\d,]*(\.\d+)?\s*%?$/;

for (const table of document.querySelectorAll(".scroll > table[id]")) {
  const heads = [...[...table.tHead.rows].at(-1).cells];
  const rows = [...table.tBodies[0].rows];
  const csv = csvOf(heads, rows); // before anything is sorted
  const tools = document.createElement("div");
  tools.className = "tools";
  if (rows.length >= FILTERED_FROM) tools.append(...filterOf(table, rows));
  tools.append(csvButton(table, csv));
  table.parentElement.before(tools);
  if (table.classList.contains("sortable")) makeSortable(table, heads);
}

// A row is shown if any of its cells holds the text.
function filterOf(table, rows) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "search";
  input.autocomplete = "off";
  input.setAttribute("aria-controls", table.id);
  label.append("Filter rows ", input);
  const shown = document.createElement("span");
  shown.setAttribute("role", "status");
  const texts = rows.map((row) =>
    [...row.cells].map((cell) => cell.textContent.trim().toLowerCase()));
  const say = (count) => { shown.textContent = `${count} of ${rows.length} rows`; };
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let count = 0;
    rows.forEach((row, i) => {
      row.hidden = !texts[i].some((text) => text.includes(wanted));
      count += !row.hidden;
    });
    say(count);
    markScrollers();
  });
  say(rows.length);
  return [label, shown];
}

function csvButton(table, csv) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = "CSV";
  button.setAttribute("aria-label", `CSV of ${table.caption.textContent.trim()}`);
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    link.download = `${table.id}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
  return button;
}

// All rows as they were written; the same bytes as from "podium report --csv".
function csvOf(heads, rows) {
  const detailed = heads.map((_, column) =>
    rows.some((row) => row.cells[column].querySelector("small")));
  const names = heads.flatMap((head, column) => {
    const name = head.dataset.name ?? head.textContent;
    return detailed[column] ? [name, `${name} (below)`] : [name];
  });
  const lines = [unique(names)];
  for (const row of rows) {
    lines.push([...row.cells].flatMap((cell, column) => {
      const value = valueOf(cell, heads[column]);
      return detailed[column] ? [value, cell.querySelector("small")?.textContent ?? ""] : [value];
    }));
  }
  return lines.map((line) => `${quotedLine(line)}\n`).join("");
}

function valueOf(cell, head) {
  const text = textOf(cell);
  const isNumber = head.classList.contains("number") && NUMBER.test(text);
  return isNumber && "order" in cell.dataset ? cell.dataset.order : text;
}

// Without the smaller second line.
function textOf(cell) {
  return [...cell.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((node) => node.data).join("");
}

function quotedLine(line) {
  if (line.length === 1 && line[0] === "") return '""';
  return line.map((text) =>
    /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text).join(",");
}

function unique(names) {
  const counts = new Map();
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}

// Pressing a column's head sorts by it; pressing again turns the order round.
function makeSortable(table, heads) {
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
