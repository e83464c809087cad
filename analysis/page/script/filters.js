// Ranks, in the page, the blocks and by the score that the reader chooses, as "podium tournament"
// does with the same --where and --score. It is descriptive: tests, intervals and resamples are left
// to that command, and hidden meanwhile. What is chosen is in the address.

const ALL = "";
const SCORE = "score"; // of the address; factors have the names of their columns
const PODIUM = 3;
const DIGITS = 12; // of sums of weighted ranks, so that equal sums tie whatever their rounding
const NARROW = matchMedia("(max-width: 40rem)");

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

// The tournament of the blocks and score: {standings, ranks, scores, blocks, excluded, available},
// or {problem} where none can be held.
function tournamentOf(cells, { factors, score }) {
  const count = cells.competitors.length;
  const { values, absent } = cells.scores[score];
  const isAbsent = new Set(absent);
  const has = (b, c) => !isAbsent.has(b * count + c);
  const at = (b, c) => values[b * count + c];
  const everyone = [...cells.competitors.keys()];
  let blocks = [...Array(values.length / count).keys()].filter((b) =>
    cells.factors.every((factor, i) => factors[i] < 0 || factor.values[b] === factors[i]));
  let taking = everyone.filter((c) => blocks.some((b) => has(b, c)));
  const scored = taking.filter((c) => blocks.some((b) => at(b, c) !== null));
  if (cells.dropsUnscored && scored.length) taking = scored;
  blocks = blocks.filter((b) => taking.some((c) => has(b, c)));
  const names = taking.map((c) => cells.competitors[c]);
  const all = blocks.map((b) => taking.map((c) => at(b, c)));
  const isComplete = all.map((row) => row.every((it) => it !== null));
  if (!blocks.length) return { problem: "No block is left." };
  if (names.length < 2) return { problem: "A ranking needs two competitors." };
  if (!isComplete.some(Boolean)) return { problem: "No block holds a score of every competitor." };
  const scores = all.filter((_, i) => isComplete[i]);
  const standings = standingsOf(names, scores, cells.scale);
  const order = standings.map(({ column }) => column);
  return {
    standings,
    blocks: blocks.filter((_, i) => isComplete[i]),
    ranks: scores.map((row) => { const ranks = ranksOf(row); return order.map((c) => ranks[c]); }),
    scores: scores.map((row) => order.map((c) => row[c])),
    excluded: all.filter((_, i) => !isComplete[i])
      .map((row) => names.filter((_, c) => row[c] === null)),
    available: scores.length < all.length ? availableOf(names, all) : [],
  };
}

// Ranks within a block, the highest score first; equal scores share their average rank.
function ranksOf(scores) {
  return scores.map((own) =>
    scores.reduce((rank, other) => rank + (other > own ? 1 : other === own ? 0.5 : 0), 0.5));
}

function standingsOf(names, scores, scale) {
  const ranks = scores.map(ranksOf);
  const totals = names.map((_, c) => sum(ranks.map((row) => row[c])));
  const found = names.map((competitor, c) => {
    const own = ranks.map((row) => row[c]);
    return {
      competitor,
      column: c,
      place: 1 + totals.filter((total) => total < totals[c]).length,
      total_rank: totals[c],
      average_rank: totals[c] / own.length,
      rank_std: deviation(own),
      wins: own.filter((rank) => rank === 1).length,
      top_three: own.filter((rank) => rank <= PODIUM).length,
      mean_score: scale * (pairwiseSum(scores.map((row) => row[c])) / own.length),
    };
  });
  return found.sort((a, b) => a.total_rank - b.total_rank || a.column - b.column);
}

// Every competitor over the blocks that have it and another, by Skillings and Mack's sums.
function availableOf(names, scores) {
  const sums = names.map(() => 0), ranks = names.map(() => []), beaten = names.map(() => []);
  for (const row of scores) {
    const present = names.map((_, c) => c).filter((c) => row[c] !== null);
    if (present.length < 2) continue;
    ranksOf(present.map((c) => row[c])).forEach((rank, i) => {
      sums[present[i]] += Math.sqrt(12 / (present.length + 1)) * (rank - (present.length + 1) / 2);
      ranks[present[i]].push(rank);
      beaten[present[i]].push((rank - 1) / (present.length - 1));
    });
  }
  const mean = (values) => (values.length ? pairwiseSum(values) / values.length : null);
  const found = names.map((competitor, c) => ({
    competitor,
    column: c,
    rank_sum: ranks[c].length ? Math.round(sums[c] * 10 ** DIGITS) / 10 ** DIGITS : null,
    beaten_by: mean(beaten[c]),
    rank_among_present: mean(ranks[c]),
    num_blocks: ranks[c].length,
  }));
  return found.sort((a, b) =>
    (a.rank_sum === null) - (b.rank_sum === null) || a.rank_sum - b.rank_sum || a.column - b.column);
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

// Sample standard deviation; null of a single value.
function deviation(values) {
  if (values.length < 2) return null;
  const mean = sum(values) / values.length;
  return Math.sqrt(sum(values.map((value) => (value - mean) * (value - mean))) / (values.length - 1));
}

// In the order in which NumPy adds, for the same last digit.
function pairwiseSum(values) {
  if (values.length > 128) {
    const half = values.length / 2 - ((values.length / 2) % 8) | 0;
    return pairwiseSum(values.slice(0, half)) + pairwiseSum(values.slice(half));
  }
  if (values.length < 8) return sum(values);
  const whole = values.length - (values.length % 8);
  const parts = values.slice(0, 8);
  for (let i = 8; i < whole; i++) parts[i % 8] += values[i];
  const [a, b, c, d, e, f, g, h] = parts;
  return values.slice(whole).reduce((total, value) => total + value, ((a + b) + (c + d)) + ((e + f) + (g + h)));
}

// "dataset = CUB, k = 2": what is chosen, in words.
function chosenText(cells, { factors, score }) {
  const parts = cells.factors.flatMap(({ label, choices }, i) =>
    factors[i] < 0 ? [] : [`${label} ${choices[factors[i]]}`]);
  return [...parts, `by ${cells.scores[score].label}`].join(", ");
}

function counted(count) {
  return `${count} block${count === 1 ? "" : "s"}`;
}

// The line above the summary while something is chosen.
function sentencesOf(cells, chosen, found) {
  const command = commandOf(cells, chosen);
  const text = document.createElement("p");
  text.append(found.problem ?? `Descriptive ranks of ${counted(found.blocks.length)} (${chosenText(cells, chosen)}).${leftOutText(found)}`);
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

function leftOutText({ excluded }) {
  if (!excluded.length) return "";
  const lacking = [...new Set(excluded.flat())];
  const named = lacking.slice(0, 3).join(", ") + (lacking.length > 3 ? ", …" : "");
  return ` ${counted(excluded.length)} left out: no score of ${named}.`;
}

// The parts of the page that are filled, as they were written.
function rememberPage(cells) {
  const tables = [...document.querySelectorAll("table:has(th[data-fills])")].map(rememberTable);
  const boxes = [...document.querySelectorAll(".plot[data-kind]")].filter(({ id }) => id in DRAWN).map(rememberBox);
  markWhole([...tables.map(({ table }) => table), ...boxes.map(({ box }) => box)]);
  const everywhere = [...tables, ...boxes];
  return {
    fill: (found, ...chosen) => everywhere.forEach((it) => it.fill(found, ...chosen)),
    restore: () => everywhere.forEach((it) => it.restore()),
  };
}

// Marks what says something of all blocks: in sections where something is filled whatever is not,
// and the other sections, which say so.
function markWhole(filled) {
  const holds = (element) => filled.some((it) => element.contains(it));
  for (const section of document.querySelectorAll("main section[id]")) {
    if (holds(section)) markWithin(section, holds);
    else if (section.querySelector("table, figure")) section.classList.add("of-all-blocks");
  }
}

function markWithin(element, holds) {
  for (const child of element.children) {
    if (child.matches("h2, h3, h4, .notice, .tools, .scroll, figcaption, .legend, summary")) continue;
    if (!holds(child)) child.classList.add("hidden-if-filtered");
    else if (!child.matches(".plots")) markWithin(child, holds);
  }
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
  return `${first}${ofAvailable ? "Ranks among those present" : "Ranks"} within ${counted(number)} (${chosenText(cells, chosen)}), descriptive.`;
}

function scoreText(cells, { score }) {
  return `${cells.scores[score].label}${cells.scale === 100 ? ", %" : ""}`;
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

// A plot and the caption of its figure.
function rememberBox(box) {
  const written = JSON.parse(box.querySelector("script").textContent);
  const { valuesOf, caption: drawn } = DRAWN[box.id];
  const caption = box.closest("figure").querySelector("figcaption");
  const text = caption.textContent;
  const send = (detail) => box.dispatchEvent(new CustomEvent("podium:values", { detail, bubbles: true }));
  let isFilled = false;
  return {
    box,
    restore() {
      caption.textContent = text;
      box.classList.remove("empty");
      if (isFilled) send(written);
      isFilled = false;
    },
    fill(found, cells, chosen) {
      isFilled = true;
      box.classList.toggle("empty", "problem" in found);
      caption.textContent = found.problem
        ?? `${drawn} within ${counted(found.blocks.length)} (${chosenText(cells, chosen)}), descriptive: no intervals, no tests.`;
      if (!found.problem) send({ ...written, ...valuesOf(found, cells, chosen, written) });
    },
  };
}

function rankingValues({ standings }, cells, chosen, { rows }) {
  const shown = standings.slice(0, rows.length);
  const isWhole = shown.length === standings.length;
  return {
    rows: shown.map((it) => ({
      name: it.competitor, rank_text: String(it.place), rank: it.average_rank,
      low: null, high: null, score: it.mean_score, gain: null,
    })),
    groups: [],
    score: scoreText(cells, chosen),
    gain: null,
    last: isWhole ? shown.length : Math.ceil(Math.max(...shown.map((it) => it.average_rank))),
  };
}

function rankMapValues({ standings, ranks, blocks }, cells, chosen, { scale }) {
  return {
    rows: standings.map(({ competitor }) => competitor),
    columns: blocks.map((b) => cells.blocks[b]),
    cells: standings.map((_, c) => ranks.map((row) => row[c])),
    scale: { ...scale, start: standings.length, end: 1 },
  };
}

function gapValues(found, cells, chosen, { scale }) {
  const values = pairValues(found, (gaps) => cells.scale * (pairwiseSum(gaps) / gaps.length));
  const largest = Math.max(...values.cells.flat().map(Math.abs));
  return { ...values, scale: { ...scale, start: -largest, end: largest } };
}

function winValues(found) {
  return pairValues(found, (gaps) => Number(fixed(50 + (50 * (won(gaps) - lost(gaps))) / gaps.length, 0)));
}

// value: of the differences of a pair, block by block.
function pairValues({ standings, scores }, value) {
  const names = standings.map(({ competitor }) => competitor);
  const gapsOf = (a, b) => scores.map((row) => row[a] - row[b]);
  const every = (make) => names.map((_, a) => names.map((_, b) => (a === b ? null : make(gapsOf(a, b)))));
  return {
    rows: names,
    columns: names,
    cells: every(value),
    framed: [],
    details: every((gaps) => `${won(gaps)} won, ${gaps.length - won(gaps) - lost(gaps)} tied, ${lost(gaps)} lost`),
  };
}

const won = (gaps) => gaps.filter((gap) => gap > 0).length;
const lost = (gaps) => gaps.filter((gap) => gap < 0).length;

// Plots that are drawn anew, by their names.
const DRAWN = {
  "summary-ranking-plot": { valuesOf: rankingValues, caption: "Average rank" },
  "rank-map-plot": { valuesOf: rankMapValues, caption: "Rank of each competitor" },
  "pair-gaps": { valuesOf: gapValues, caption: "Mean gap and win rate of each pair" },
  "pair-wins": { valuesOf: winValues, caption: "Mean gap and win rate of each pair" },
};

const embedded = document.getElementById("cells");
if (embedded) showFilters(JSON.parse(embedded.textContent));
