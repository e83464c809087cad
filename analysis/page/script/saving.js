// Every table as CSV and LaTeX, copied or downloaded: with the bytes that "podium report --csv" and
// "--latex" write.

// As in analysis/page/table_files.py.
const NUMBER = /^[<>]?\s*[+−-]?\d[\d,]*(\.\d+)?\s*%?$/;
const MARGIN = 8; // pixels between the menu and the edge of the window

const FORMATS = [
  { label: "CSV", ending: "csv", type: "text/csv", write: (table) => csvOf(readTable(table)) },
  { label: "LaTeX", ending: "tex", type: "application/x-tex", write: latexOf },
];

const menu = document.createElement("div");
menu.popover = "auto";
menu.className = "save-menu";

for (const table of document.querySelectorAll(".scroll > table[id]")) {
  const button = buttonOf("Save", `Save the table: ${table.caption.textContent.trim()}`, () => openMenu(table, button));
  button.setAttribute("aria-haspopup", "dialog");
  table.parentElement.previousElementSibling.append(button);
}

function buttonOf(text, label, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = text;
  button.setAttribute("aria-label", label);
  button.addEventListener("click", act);
  return button;
}

// One menu for all tables, beside the button that opens it, so that Tab goes on from there.
function openMenu(table, opener) {
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  const rows = FORMATS.flatMap(({ label, ending, type, write }) => {
    const name = document.createElement("span");
    name.textContent = label;
    const text = () => write(table);
    return [
      name,
      buttonOf("Copy", `Copy ${label}`, async () => {
        status.textContent = (await copied(text())) ? `${label} copied.` : "This browser refuses to copy.";
      }),
      buttonOf("Download", `Download ${label}`, () => {
        saveFile(new Blob([text()], { type }), `${table.id}.${ending}`);
        menu.hidePopover();
      }),
    ];
  });
  menu.replaceChildren(...rows, status);
  menu.setAttribute("role", "dialog");
  menu.setAttribute("aria-label", "Save the table");
  opener.after(menu);
  menu.showPopover();
  const { left, bottom } = opener.getBoundingClientRect();
  const most = document.documentElement.clientWidth - menu.offsetWidth - MARGIN;
  menu.style.left = `${scrollX + Math.max(MARGIN, Math.min(left, most))}px`;
  menu.style.top = `${scrollY + bottom + 4}px`;
  menu.querySelector("button").focus({ preventScroll: true });
}

// The table as it was written, whatever it is sorted by and whichever rows are hidden.
function readTable(table) {
  const heads = [...[...table.tHead.rows].at(-1).cells];
  const body = table.tBodies[0];
  return {
    columns: heads.map((head) => ({
      name: head.dataset.name ?? head.textContent,
      isNumber: head.classList.contains("number"),
    })),
    rows: (body.written ?? [...body.rows]).map((row) => [...row.cells].map((cell) => ({
      text: textOf(cell),
      detail: cell.querySelector("small")?.textContent ?? "",
      order: cell.dataset.order,
    }))),
  };
}

function latexOf(table) {
  return JSON.parse(table.parentElement.querySelector("script.latex").textContent);
}

// What the name of each column has behind it for that of the second lines; empty for none.
function secondColumns({ columns, rows }) {
  return columns.map((_, i) => {
    const found = rows.map((row) => row[i].detail).filter(Boolean);
    if (!found.length) return "";
    return found.every((text) => /^± [\d.]+$/.test(text)) ? " ±" : " (below)";
  });
}

function csvOf(table) {
  const suffixes = secondColumns(table);
  const withDetails = (values) => values.flatMap(([value, detail], i) => (suffixes[i] ? [value, detail] : [value]));
  const heads = table.columns.map(({ name }, i) => [name, `${name}${suffixes[i]}`]);
  const lines = table.rows.map((row) => row.map((cell, i) => [
    valueOf(cell, table.columns[i]), suffixes[i] === " ±" ? cell.detail.replace("± ", "") : cell.detail]));
  return [unique(withDetails(heads)), ...lines.map(withDetails)].map((line) => `${quotedLine(line)}\n`).join("");
}

function valueOf({ text, order }, { isNumber }) {
  return isNumber && NUMBER.test(text) ? order ?? text : text;
}

function quotedLine(line) {
  if (line.length === 1 && line[0] === "") return '""';
  return line.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(",");
}

function unique(names) {
  const counts = new Map();
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}
