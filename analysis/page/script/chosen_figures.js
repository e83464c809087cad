// The figures of the comparison, drawn anew from the blocks and the score that a reader chooses.

const MARGIN = 0.04; // of the range, as figures of intervals have it
const { blocksOf, intervalOf, criticalDifferenceOf, joinedRanks, ranksByK, ranksByDimension, pairwiseSum } = shared;

// "4 of 12 blocks".
function countedOf(count, cells) {
  return `${count} of ${cells.blocks.length} blocks`;
}

// "Data set CUB, Dimension 64": the parts that are chosen, in words.
function partsOf(cells, { factors }) {
  return cells.factors.flatMap(({ label, choices }, i) => (factors[i] < 0 ? [] : [`${label} ${choices[factors[i]]}`]));
}

function chosenText(cells, chosen) {
  return [...partsOf(cells, chosen), `by ${cells.scores[chosen.score].label}`].join(", ");
}

function scoreText(cells, { score }) {
  return `${cells.scores[score].label}${cells.scale === 100 ? ", %" : ""}`;
}

// "within 4 of 12 blocks (Data set CUB, by the score chosen)".
function withinText({ blocks }, cells, chosen) {
  return `within ${countedOf(blocks.length, cells)} (${chosenText(cells, chosen)})`;
}

// A figure that cannot be drawn says why.
function words(caption) {
  return { caption, valuesOf: () => null };
}

// How a figure is drawn of the tournament that was found; a figure of pairs takes several blocks.
function ofTournament(draw, { fewest = 1 } = {}) {
  return (found, cells, chosen) => {
    if (found.problem) return words(found.problem);
    if (found.blocks.length < fewest) return words(`Not drawn: a single block is left (${chosenText(cells, chosen)}), and a comparison takes several.`);
    return draw(found, cells, chosen);
  };
}

function ranking(found, cells, chosen) {
  const { standings } = found;
  return {
    caption: `Average rank ${withinText(found, cells, chosen)}, descriptive: no intervals, no tests.`,
    valuesOf(_, { rows }) {
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
    },
  };
}

function rankMap(found, cells, chosen) {
  const { standings, ranks, blocks } = found;
  return {
    caption: `Rank of each competitor ${withinText(found, cells, chosen)}; ties share their average rank.`,
    valuesOf: (_, { scale }) => ({
      rows: standings.map(({ competitor }) => competitor),
      columns: blocks.map((b) => cells.blocks[b]),
      cells: standings.map((_, c) => ranks.map((row) => row[c])),
      scale: { ...scale, start: standings.length, end: 1 },
    }),
  };
}

function pairMaps(found, cells, chosen) {
  return {
    caption: `Mean gap and win rate of each pair ${withinText(found, cells, chosen)}, descriptive: no tests.`,
    valuesOf: (box, { scale }) => (box.id === "pair-gaps" ? gapValues(found, cells, scale) : winValues(found)),
  };
}

function gapValues(found, cells, scale) {
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

// How many of the blocks are independent, and in words.
function unitsOf({ blocks }, { units }) {
  const groups = blocks.map((b) => units.groups[b]);
  const number = new Set(groups).size;
  const noun = number === blocks.length ? "block" : "group";
  const of = noun === "group" ? " of blocks that share data set and backbone" : "";
  return { groups, number, noun, counted: `${number} ${noun}${number === 1 ? "" : "s"}${of}` };
}

function pairedDifferences(found, cells, chosen) {
  const { groups, noun, counted } = unitsOf(found, cells);
  const names = found.standings.map(({ competitor }) => competitor);
  const differencesOf = (a) => names.slice(a + 1).map((name, i) => {
    const gaps = found.scores.map((row) => row[a] - row[a + 1 + i]);
    const [value, low, high] = intervalOf(gaps, groups, cells.units.reaches).map((it) => (it === null ? null : cells.scale * it));
    return { group: `${names[a]} minus`, name, competitor: name, value, low, high };
  });
  const first = differencesOf(0);
  const interval = first[0].low === null ? `no interval, which takes 3 ${noun}s`
    : `Student's 95 % interval over ${counted}, not adjusted for the number of pairs`;
  const every = found.standings.flatMap((_, a) => differencesOf(a));
  return {
    caption: `Paired differences ${withinText(found, cells, chosen)}: mean and ${interval}. Without the test of each pair.`,
    valuesOf(_, written) {
      const isEvery = "group" in written.rows;
      const rows = isEvery ? every : first;
      return {
        rows: columnsOf(rows),
        looks: looksOf(names),
        heads: [],
        domain: rangeOf([0, ...written.region ?? [], ...rows.flatMap((it) => [it.value, it.low, it.high])]),
      };
    },
  };
}

// Rows -> a list for each of their fields, as plots of intervals have them.
function columnsOf(rows) {
  return Object.fromEntries(Object.keys(rows[0]).map((field) => [field, rows.map((row) => row[field])]));
}

function looksOf(names) {
  return Object.fromEntries(names.map((name) => [name, [colourOf(name), symbolOf(name)]]));
}

// First and last value of an axis with a margin.
function rangeOf(values) {
  const known = values.filter((it) => it !== null);
  const low = Math.min(...known), high = Math.max(...known);
  const margin = MARGIN * (high - low || Math.abs(high) || 1);
  return [low - margin, high + margin];
}

function criticalDifference(found, cells, chosen) {
  const { number, counted, noun } = unitsOf(found, cells);
  const names = found.standings.map(({ competitor }) => competitor);
  const ranks = found.standings.map(({ average_rank }) => average_rank);
  const length = criticalDifferenceOf(names.length, number, cells.units.ranges);
  if (length === null) return words(`A critical difference needs at least three competitors and two ${noun}s (${chosenText(cells, chosen)}).`);
  if (length > names.length - 1) {
    return words(`No critical-difference diagram (${chosenText(cells, chosen)}): with ${counted} Nemenyi's critical difference of ${numberText(length)} exceeds the axis from rank 1 to ${names.length}.`);
  }
  return {
    caption: `Critical-difference diagram of Nemenyi's test ${withinText(found, cells, chosen)}: a bracket joins competitors that do not differ significantly. CD = ${numberText(length)} is the critical difference at ${Number((100 * cells.units.alpha).toPrecision(6))} % for ${counted}.`,
    valuesOf: (box) => (box.id !== "critical-difference-nemenyi" ? null : {
      names, ranks, criticalDifference: length,
      groups: joinedRanks(ranks, length).map(([start, end]) => names.slice(start, end + 1)),
    }),
  };
}

function blockScores(found, cells, chosen) {
  const { standings, scores, blocks } = found;
  const best = [...standings.keys()].reverse(); // the best lies on top
  const isShown = chosen.score === cells.shown;
  return {
    caption: `Score of each competitor in each of ${countedOf(blocks.length, cells)} (${chosenText(cells, chosen)})${isShown ? "" : ", without its runs"}.`,
    valuesOf(box, written) {
      const own = blocks.map((b, i) => ({ scores: scores[i], name: labelWithin(b, box, cells) })).filter(({ name }) => name !== null);
      if (!own.length) return null;
      const dots = isShown ? dotsOf(written.rows) : () => [];
      const rows = own.flatMap(({ name, scores: row }) =>
        best.map((c) => ({ name, competitor: standings[c].competitor, value: cells.scale * row[c], dots: dots(name, standings[c].competitor) })));
      return {
        rows: columnsOf(rows),
        looks: looksOf(standings.map(({ competitor }) => competitor)),
        axis: scoreText(cells, chosen),
        words: { ...written.words, value: scoreText(cells, chosen) },
        domain: rangeOf(rows.flatMap((it) => [it.value, ...it.dots])),
      };
    },
  };
}

// What a plot of one data set calls a block; null for blocks of others.
function labelWithin(b, box, cells) {
  const { label } = box.dataset;
  if (label === undefined) return cells.blocks[b];
  const { values, choices } = cells.factors.find(({ name }) => name === "dataset");
  if (choices[values[b]] !== label) return null;
  return cells.blocks[b].split("/").filter((part) => part !== label).join("/") || cells.blocks[b];
}

// The runs that a plot was written with, by block and competitor.
function dotsOf({ name, competitor, dots = [] }) {
  const found = new Map(dots.map((it, i) => [JSON.stringify([name[i], competitor[i]]), it]));
  return (...key) => found.get(JSON.stringify(key)) ?? [];
}

// ranksOf: computes ranks at each level; axis: what the levels are; isOfScore: whether they are
// those of the chosen score.
function rankLines(ranksOf, axis, { isOfScore }) {
  return (_, cells, chosen) => {
    const { levels, rows, count } = ranksOf(cells, chosen);
    const said = isOfScore ? chosenText(cells, chosen) : partsOf(cells, chosen).join(", ");
    const within = said && ` (${said})`;
    if (levels.length < 2) return words(`Not drawn: a single ${axis} is left${within}.`);
    if (rows.length < 2 || !count) return words(`Not drawn: no block has a score of every loss at every ${axis}${within}.`);
    return {
      caption: `Order of the losses by their average rank over ${count} block${count === 1 ? "" : "s"} with all scores${within}.`,
      valuesOf: (_, { x, y }) => ({
        x: { ...x, limits: [-0.25, levels.length - 0.75], ticks: levels.map((level, i) => [i, String(level)]) },
        y: { ...y, limits: [rows.length + 0.5, 0.5] },
        xs: [levels.map((_, i) => i)],
        lines: rows.map(({ name, positions }) => ({ name, xs: 0, y: positions })),
      }),
    };
  };
}

// Name of a figure -> what is drawn of the tournament found: its caption, and the values of each of
// its plots that change, null for a plot that is not drawn.
shared.chosenFigures = {
  "summary-ranking": ofTournament(ranking),
  "rank-map-figure": ofTournament(rankMap),
  "pair-figure": ofTournament(pairMaps, { fewest: 2 }),
  "paired-differences": ofTournament(pairedDifferences, { fewest: 2 }),
  "critical-difference": ofTournament(criticalDifference, { fewest: 2 }),
  "block-scores": ofTournament(blockScores),
  "rank-by-k": rankLines(ranksByK, "K", { isOfScore: false }),
  "rank-by-dimension": rankLines(ranksByDimension, "embedding dimension", { isOfScore: true }),
};
// Figures over units that the page does not always have.
shared.figuresOfUnits = ["paired-differences", "critical-difference"];
Object.assign(shared, { countedOf, chosenText, scoreText });
