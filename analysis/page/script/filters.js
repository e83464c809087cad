// Ranks, in the page, the blocks and by the score that the reader chooses, and draws the figures of
// the comparison anew. Tests of pairs and resamples are left to the command; what is not drawn anew
// is dimmed and says that it shows all blocks. What is chosen is in the address.

const ALL = "";
const SCORE = "score"; // of the address; factors have the names of their columns
const NARROW = matchMedia("(max-width: 40rem)");
const { tournamentOf, chosenFigures, figuresOfUnits, countedOf, chosenText, scoreText } = shared;

function showFilters(cells) {
  const bar = document.createElement("details");
  bar.className = "filters";
  const summary = document.createElement("summary");
  summary.textContent = "Filter";
  const selects = selectsOf(cells);
  const reset = document.createElement("button");
  reset.type = "button";
  reset.className = "link";
  reset.textContent = "Reset";
  const said = document.createElement("div");
  said.className = "filtered-note";
  said.setAttribute("role", "status");
  const controls = document.createElement("div");
  controls.className = "controls";
  controls.append(...[...selects.values()].map(({ label }) => label), reset);
  bar.append(summary, controls);
  document.getElementById("main").prepend(bar, said);
  NARROW.addEventListener("change", () => { bar.open = !NARROW.matches; });
  bar.open = !NARROW.matches;

  const written = rememberPage(cells);
  const apply = () => {
    const chosen = choiceOf(cells, selects);
    reset.hidden = !chosen.isFiltered;
    remember(chosen, selects);
    document.documentElement.toggleAttribute("data-filtered", chosen.isFiltered);
    said.replaceChildren();
    if (!chosen.isFiltered) {
      written.restore();
      return;
    }
    const found = tournamentOf(cells, chosen);
    said.append(...sentencesOf(cells, chosen, found));
    written.fill(found, cells, chosen);
    if (NARROW.matches) bar.open = true;
  };
  for (const { select } of selects.values()) select.addEventListener("change", apply);
  reset.addEventListener("click", () => {
    for (const { select, usual } of selects.values()) select.value = usual;
    apply();
    selects.values().next().value.select.focus();
  });
  reset.hidden = true;
  if (choiceOf(cells, selects).isFiltered) apply();
}

// Name in the address -> its control, set as the address says.
function selectsOf(cells) {
  const asked = new URLSearchParams(location.search);
  const found = new Map();
  const add = (name, text, options, usual) => {
    const select = document.createElement("select");
    select.append(...options.map(([value, shown]) => new Option(shown, value)));
    const wanted = asked.get(name);
    select.value = options.some(([value]) => value === wanted) ? wanted : usual;
    const label = document.createElement("label");
    label.append(`${text} `, select);
    found.set(name, { label, select, usual });
  };
  for (const { name, label, choices } of cells.factors) {
    add(name, label, [[ALL, "all"], ...choices.map((it) => [it, it])], ALL);
  }
  if (cells.scores.length > 1) {
    add(SCORE, "Score", cells.scores.map(({ label }) => [label, label]), cells.scores[cells.shown].label);
  }
  return found;
}

// What is chosen: position of the score, and of each factor the position of its value or -1.
function choiceOf(cells, selects) {
  const factors = cells.factors.map(({ name, choices }) => choices.indexOf(selects.get(name).select.value));
  const wanted = selects.get(SCORE)?.select.value;
  const score = wanted === undefined ? cells.shown : cells.scores.findIndex(({ label }) => label === wanted);
  return { factors, score, isFiltered: score !== cells.shown || factors.some((it) => it >= 0) };
}

function remember({ isFiltered }, selects) {
  const query = new URLSearchParams();
  for (const [name, { select, usual }] of selects) if (select.value !== usual) query.set(name, select.value);
  history.replaceState(null, "", `${location.pathname}${isFiltered ? `?${query}` : ""}${location.hash}`);
}

// The words of the command that holds the same tournament with its tests.
function commandOf(cells, { factors, score }) {
  const conditions = cells.factors.flatMap(({ name, choices }, i) =>
    factors[i] < 0 ? [] : ["--where", `${name}=${choices[factors[i]]}`]);
  return [...cells.command, ...conditions, ...cells.scores[score].arguments].map(quoted).join(" ");
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

// The line above the summary while something is chosen.
function sentencesOf(cells, chosen, found) {
  const command = commandOf(cells, chosen);
  const text = document.createElement("p");
  text.append(found.problem ? `${found.problem} (${chosenText(cells, chosen)})` : foundText(cells, chosen, found));
  const line = document.createElement("p");
  const code = document.createElement("code");
  code.textContent = command;
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "link";
  copy.textContent = "Copy";
  copy.setAttribute("aria-label", "Copy the command");
  copy.addEventListener("click", async () => {
    copy.textContent = (await copied(command)) ? "Copied" : "Select it";
  });
  line.append("For tests: ", code, " ", copy);
  return [text, line];
}

function foundText(cells, chosen, found) {
  const blocks = `${countedOf(found.blocks.length, cells)} (${chosenText(cells, chosen)})`;
  const said = found.blocks.length > 1 ? `Descriptive ranks of ${blocks}.`
    : `A single block is left, ${blocks}: this is its order alone, which supports no average, interval or test.`;
  return said + leftOutText(found);
}

function leftOutText({ excluded }) {
  if (!excluded.length) return "";
  const lacking = [...new Set(excluded.flat())];
  const named = lacking.slice(0, 3).join(", ") + (lacking.length > 3 ? ", …" : "");
  return ` ${excluded.length} block${excluded.length === 1 ? "" : "s"} left out: no score of ${named}.`;
}

// The parts of the page that are filled, as they were written.
function rememberPage(cells) {
  const tables = [...document.querySelectorAll("table:has(th[data-fills])")].map(rememberTable);
  const names = Object.keys(chosenFigures).filter((name) => cells.units || !figuresOfUnits.includes(name));
  const figures = names.map((name) => document.getElementById(name)).filter(Boolean).map(rememberFigure);
  markWhole([...tables.map(({ table }) => table), ...figures.flatMap(({ boxes }) => boxes)]);
  const everywhere = [...tables, ...figures];
  return {
    fill: (found, ...chosen) => everywhere.forEach((it) => it.fill(found, ...chosen)),
    restore: () => everywhere.forEach((it) => it.restore()),
  };
}

// Marks what says something of all blocks: beside what is filled, figures and tables are dimmed and
// text is hidden; sections where nothing is filled are dimmed as a whole.
function markWhole(filled) {
  const holds = (element) => filled.some((it) => element.contains(it));
  for (const section of document.querySelectorAll("main section[id]")) {
    if (holds(section)) markWithin(section, holds);
    else if (section.querySelector("table, figure")) dim(section);
  }
  for (const chapter of document.querySelectorAll(".chapter")) {
    if (holds(chapter)) chapter.querySelector(".gist")?.classList.add("hidden-if-filtered");
  }
}

function markWithin(element, holds) {
  for (const child of [...element.children]) {
    if (child.matches("h2, h3, h4, .notice, .tools, .selector, figcaption, .legend, summary")) continue;
    if (!holds(child)) markChild(child);
    else if (!child.matches(".plots, .scroll")) markWithin(child, holds);
  }
}

// The numbers behind a figure that is drawn anew are hidden too.
function markChild(child) {
  if (child.matches(":has(table, .plot)") && !child.parentElement.closest("figure")) dim(child);
  else child.classList.add("hidden-if-filtered");
}

function dim(element) {
  const note = document.createElement("p");
  note.className = "whole-note";
  note.textContent = "Of all blocks, by the page's own score: the filter leaves this as it is.";
  element.classList.add("of-all-blocks");
  const head = element.querySelector(":scope > :is(h3, h4, summary)");
  const before = element.previousElementSibling;
  if (head) head.after(note);
  else if (element.matches("section")) element.prepend(note);
  else (before?.matches(".tools") ? before : element).before(note); // a table's tools stay beside it
}

function rememberTable(table) {
  const body = table.tBodies[0];
  const caption = table.caption.querySelector("span");
  const heads = [...[...table.tHead.rows].at(-1).cells];
  const means = heads.filter((head) => head.dataset.fills === "mean_score").map((head) => head.querySelector("button") ?? head);
  const note = document.getElementById(`${table.id}-note`);
  const box = table.parentElement;
  const texts = [caption, ...means].map((element) => [element, element.textContent]);
  const ofAvailable = heads.some((head) => head.dataset.fills === "rank_sum");
  const show = (rows) => {
    table.tBodies[0].replaceWith(rows);
    table.dispatchEvent(new Event("podium:rows"));
  };
  const hide = (isHidden) => {
    for (const element of [box, box.previousElementSibling]) element.hidden = isHidden;
  };
  return {
    table,
    restore() {
      for (const [element, text] of texts) element.textContent = text;
      if (note) note.hidden = false;
      hide(false);
      if (table.tBodies[0] !== body) show(body);
    },
    fill(found, cells, chosen) {
      const all = (ofAvailable ? found.available : found.standings) ?? [];
      const most = body.rows.length < cells.competitors.length ? body.rows.length : all.length;
      hide(!all.length);
      if (note) note.hidden = true;
      caption.textContent = captionOf(found, cells, chosen, { ofAvailable, most, count: all.length });
      for (const head of means) head.textContent = `Mean ${scoreText(cells, chosen)}`;
      const rows = document.createElement("tbody");
      rows.append(...all.slice(0, most).map((row) => rowOf(row, heads)));
      show(rows);
    },
  };
}

function captionOf({ blocks = [], excluded = [] }, cells, chosen, { ofAvailable, most, count }) {
  const number = ofAvailable ? blocks.length + excluded.length : blocks.length;
  const first = most < count ? `The first ${most} of ${count}. ` : "";
  return `${first}${ofAvailable ? "Ranks among those present" : "Ranks"} within ${countedOf(number, cells)} (${chosenText(cells, chosen)}), descriptive.`;
}

function rowOf(found, heads) {
  const row = document.createElement("tr");
  row.dataset.competitor = found.competitor;
  const cells = heads.slice(1).map((head) => {
    const cell = document.createElement("td");
    const value = head.dataset.fills ? found[head.dataset.fills] : null;
    if (head.classList.contains("number")) cell.className = "number";
    cell.textContent = textIn(head.dataset.fills, value);
    if (value !== null) cell.dataset.order = value;
    return cell;
  });
  row.append(nameCell(found.competitor), ...cells);
  return row;
}

function textIn(fills, value) {
  if (["place", "wins", "top_three", "num_blocks"].includes(fills)) return numberText(value, 0);
  if (fills === "total_rank") return numberText(value, Number.isInteger(value) ? 0 : 1);
  return numberText(value);
}

// With the marker that it has elsewhere in the page.
function nameCell(name) {
  const cell = document.createElement("th");
  cell.scope = "row";
  const marker = document.querySelector(`[data-competitor="${CSS.escape(name)}"] .key`);
  cell.append(...(marker ? [marker.cloneNode(true)] : []), name);
  return cell;
}

// The plots of a figure, and its caption.
function rememberFigure(figure) {
  const boxes = [...figure.querySelectorAll(".plot[data-kind]")];
  const written = boxes.map((box) => JSON.parse(box.querySelector("script").textContent));
  const names = boxes.map((box) => box.getAttribute("aria-label"));
  const caption = figure.querySelector("figcaption");
  const text = caption.textContent;
  const select = figure.querySelector(".selector select");
  const send = (box, detail) => box.dispatchEvent(new CustomEvent("podium:values", { detail, bubbles: true }));
  const show = (box) => box.dispatchEvent(new CustomEvent("podium:show", { bubbles: true }));
  let shown = null; // the plot that was selected before anything was filled
  return {
    boxes,
    restore() {
      if (shown === null) return;
      caption.textContent = text;
      figure.classList.remove("not-drawn", "one-drawn");
      boxes.forEach((box, i) => {
        box.classList.remove("empty");
        box.setAttribute("aria-label", names[i]);
        send(box, written[i]);
      });
      if (select) {
        for (const option of select.options) option.disabled = false;
        show(shown);
      }
      shown = null;
    },
    fill(found, cells, chosen) {
      shown ??= boxes.find((box) => !box.hidden);
      const drawn = chosenFigures[figure.id](found, cells, chosen);
      caption.textContent = drawn.caption;
      const values = boxes.map((box, i) => drawn.valuesOf(box, written[i]));
      boxes.forEach((box, i) => {
        box.classList.toggle("empty", values[i] === null);
        box.setAttribute("aria-label", `${names[i].split(". ")[0]}. ${drawn.caption}`);
        if (values[i]) send(box, { ...written[i], ...values[i] });
      });
      const filled = boxes.filter((_, i) => values[i]);
      figure.classList.toggle("not-drawn", !filled.length);
      figure.classList.toggle("one-drawn", filled.length === 1);
      if (select) {
        [...select.options].forEach((option, i) => { option.disabled = !values[i]; });
        if (filled.length) show(filled.find((box) => !box.hidden) ?? filled[0]);
      }
    },
  };
}

const embedded = document.getElementById("cells");
if (embedded) showFilters(JSON.parse(embedded.textContent));
