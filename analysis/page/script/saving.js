// Every table as CSV, LaTeX and Markdown, copied or downloaded: CSV and LaTeX with the bytes that
// "podium report --csv" and "--latex" write.

// As in analysis/page/table_files.py.
const NUMBER = /^[<>]?\s*[+−-]?\d[\d,]*(\.\d+)?\s*%?$/;
// As in analysis/page/latex_tables.py.
const MOST_FLOATING_ROWS = 40, MOST_CHARACTERS = 90, LONG_TEXT = 40, LAST_SAFE = 0x17f;
const UNPRINTABLE = /(?:(?![\u00a0\ufeff])[\s\x1c-\x1f\x85])+|[\x00-\x1f\x7f-\x9f]+/gu;
const LATEX = JSON.parse(document.getElementById("latex-characters").textContent);
const MARGIN = 8; // pixels between the menu and the edge of the window

const FORMATS = [
  { label: "CSV", ending: "csv", type: "text/csv", write: csvOf },
  { label: "LaTeX", ending: "tex", type: "application/x-tex", write: latexOf },
  { label: "Markdown", ending: "md", type: "text/markdown", write: markdownOf },
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
    const text = () => write(readTable(table));
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
  const note = document.getElementById(`${table.id}-note`);
  return {
    name: table.id,
    caption: table.caption.querySelector("span").textContent,
    note: note && !note.hidden ? note.textContent : "",
    groups: [...(table.tHead.querySelector(".groups")?.cells ?? [])]
      .map((cell) => ({ label: cell.textContent, span: cell.colSpan })),
    columns: heads.map((head) => ({
      label: head.textContent,
      name: head.dataset.name ?? head.textContent,
      isNumber: head.classList.contains("number"),
    })),
    rows: (body.written ?? [...body.rows]).map((row) => [...row.cells].map((cell) => ({
      text: textOf(cell),
      detail: cell.querySelector("small")?.textContent ?? "",
      isBest: cell.classList.contains("best"),
      order: cell.dataset.order,
    }))),
  };
}

function detailedColumns({ columns, rows }) {
  return columns.map((_, i) => rows.some((row) => row[i].detail));
}

function csvOf(table) {
  const detailed = detailedColumns(table);
  const withDetails = (values) => values.flatMap(([value, detail], i) => (detailed[i] ? [value, detail] : [value]));
  const heads = table.columns.map(({ name }) => [name, `${name} (below)`]);
  const lines = table.rows.map((row) =>
    row.map((cell, i) => [valueOf(cell, table.columns[i]), cell.detail]));
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

function latexOf(table) {
  const isLong = table.rows.length > MOST_FLOATING_ROWS;
  const isWide = widthIn(table) > MOST_CHARACTERS;
  const body = (isLong ? longLatex : floatLatex)(table, isWide);
  return [...preamble(body.join(""), isLong, isWide), ...body].map((line) => `${line}\n`).join("");
}

function preamble(text, isLong, isWide) {
  const beyond = [...new Set(text)].filter((it) => it.codePointAt(0) > LAST_SAFE)
    .sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
  return [
    "% \\usepackage{booktabs}",
    ...(isLong ? ["% \\usepackage{longtable}, and LaTeX run twice"] : isWide ? ["% \\usepackage{graphicx}"] : []),
    ...(text.includes("\\arraybackslash") ? ["% \\usepackage{array}"] : []),
    ...(beyond.length ? [`% lualatex or xelatex, with a font that has: ${beyond.join("")}`] : []),
  ];
}

function floatLatex(table, isWide) {
  return [
    "\\begin{table}[tbp]",
    "  \\centering",
    `  \\caption{${escaped(table.caption)}}`,
    `  \\label{tab:${table.name}}`,
    ...(isWide ? ["  \\resizebox{\\linewidth}{!}{%"] : []),
    `  \\begin{tabular}{${alignment(table)}}`,
    "    \\toprule",
    ...headRows(table),
    "    \\midrule",
    ...latexRows(table),
    "    \\bottomrule",
    `  \\end{tabular}${isWide ? "}" : ""}`,
    ...(table.note ? [`  \\par\\smallskip{\\footnotesize\\raggedright ${escaped(table.note)}\\par}`] : []),
    "\\end{table}",
  ];
}

function longLatex(table, isWide) {
  const head = ["    \\toprule", ...headRows(table), "    \\midrule"];
  return [
    ...(isWide ? ["\\begingroup\\scriptsize\\setlength{\\tabcolsep}{3pt}"] : []),
    `\\begin{longtable}{${alignment(table)}}`,
    `    \\caption{${escaped(table.caption)}}\\label{tab:${table.name}}\\\\`,
    ...head,
    "    \\endfirsthead",
    ...head,
    "    \\endhead",
    "    \\bottomrule",
    "    \\endfoot",
    ...latexRows(table),
    "\\end{longtable}",
    ...(isWide ? ["\\endgroup"] : []),
    ...(table.note ? [`{\\footnotesize\\noindent ${escaped(table.note)}\\par}`] : []),
  ];
}

function headRows({ groups, columns }) {
  const labels = latexRow(columns.map(({ label }) => escaped(label)));
  if (!groups.length) return [labels];
  let end = 0;
  const rules = groups.flatMap(({ label, span }) => {
    end += span;
    return label ? [`\\cmidrule(lr){${end - span + 1}-${end}}`] : [];
  });
  const heads = groups.map(({ label, span }) => `\\multicolumn{${span}}{c}{${escaped(label)}}`);
  return [latexRow(heads), `    ${rules.join(" ")}`, labels];
}

function latexRows({ columns, rows }) {
  const details = columns.map((_, i) =>
    rows.reduce((most, row) => (lengthOf(row[i].detail) > lengthOf(most) ? row[i].detail : most), ""));
  return rows.map((row) => latexRow(row.map((cell, i) => latexCell(cell, columns[i], details[i]))));
}

function latexRow(cells) {
  return `    ${cells.join(" & ")} \\\\`;
}

function latexCell({ text, detail, isBest }, { isNumber }, longest) {
  const written = isBest ? `\\textbf{${escaped(text)}}` : escaped(text);
  if (detail) return written + latexDetail(detail);
  return longest && isNumber ? `${written}\\hphantom{${latexDetail(longest)}}` : written;
}

function latexDetail(text) {
  return `\\,{\\scriptsize ${escaped(text)}}`;
}

function alignment({ columns, rows }) {
  const letters = columns.map(({ isNumber }, i) => {
    if (isNumber) return "r";
    const longest = Math.max(0, ...rows.map((row) => lengthOf(row[i].text)));
    return longest > LONG_TEXT ? ">{\\raggedright\\arraybackslash}p{0.3\\linewidth}" : "l";
  });
  return `@{}${letters.join("")}@{}`;
}

function widthIn({ columns, rows }) {
  const widths = columns.map(({ label }, i) => 2 + Math.max(lengthOf(label), ...rows.map((row) => cellWidth(row[i]))));
  return widths.reduce((sum, width) => sum + width, 0);
}

function cellWidth({ text, detail }) {
  return Math.min(lengthOf(text), LONG_TEXT) + Math.floor((lengthOf(detail) * 2) / 3);
}

function lengthOf(text) {
  return [...text].length;
}

function escaped(text) {
  const apart = text.replace(UNPRINTABLE, " ").replaceAll("--", "-\0-").replaceAll("--", "-\0-");
  return [...apart].map((it) => LATEX[it] ?? it).join("");
}

// As GitHub reads tables: the caption above, the note below, second lines in brackets.
function markdownOf({ caption, note, columns, rows }) {
  const lines = [
    columns.map(({ name }) => plain(name)),
    columns.map(({ isNumber }) => (isNumber ? "---:" : "---")),
    ...rows.map((row) => row.map(({ text, detail, isBest }) => {
      const written = isBest && text ? `**${plain(text)}**` : plain(text);
      return detail ? `${written} (${plain(detail)})` : written;
    })),
  ];
  const table = lines.map((line) => `| ${line.join(" | ")} |\n`).join("");
  return `${plain(caption)}\n\n${table}${note ? `\n${plain(note)}\n` : ""}`;
}

// Text of which Markdown makes nothing else; "_" within a word is none of its marks.
function plain(text) {
  return text.replace(/\s+/g, " ").replace(/[\\`*<>[\]|~#]|(?<!\w)_|_(?!\w)/g, "\\$&");
}
