// The tournament of the blocks and score that a reader chooses, as "podium tournament" holds it with
// the same --where and --score: ranks, pairs, intervals of mean differences, and Nemenyi's critical
// difference. What it computes is what the command computes; other tests are left to the command.

const PODIUM = 3;
const DIGITS = 12; // of sums of weighted ranks, so that equal sums tie whatever their rounding
const FEWEST_GROUPS = 3; // for Student's interval

// The tournament of the blocks and score: {standings, ranks, scores, blocks, excluded, available},
// or {problem} where none can be held.
function tournamentOf(cells, { factors, score }) {
  const { has, at, taking } = takingPart(cells, { factors, score });
  const blocks = blocksOf(cells, factors).filter((b) => taking.some((c) => has(b, c)));
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

function blocksOf(cells, factors) {
  return [...cells.blocks.keys()].filter((b) =>
    cells.factors.every((factor, i) => factors[i] < 0 || factor.values[b] === factors[i]));
}

// Who has scores in the blocks: {has, at, taking}, by numbers of blocks and competitors.
function takingPart(cells, { factors, score }) {
  const count = cells.competitors.length;
  const { values, absent, dropsUnscored } = cells.scores[score];
  const isAbsent = new Set(absent);
  const has = (b, c) => !isAbsent.has(b * count + c);
  const at = (b, c) => values[b * count + c];
  const blocks = blocksOf(cells, factors);
  const taking = [...cells.competitors.keys()].filter((c) => blocks.some((b) => has(b, c)));
  const scored = taking.filter((c) => blocks.some((b) => at(b, c) !== null));
  return { has, at, taking: dropsUnscored && scored.length ? scored : taking };
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

// Mean difference of two competitors with Student's t interval: its error is that of leaving out
// each group of blocks in turn: [mean, low, high], the ends null with fewer than three groups.
function intervalOf(gaps, groups, reaches) {
  const mean = pairwiseSum(gaps) / gaps.length;
  const names = [...new Set(groups)];
  if (names.length < FEWEST_GROUPS) return [mean, null, null];
  const without = names.map((name) => {
    const others = gaps.filter((_, i) => groups[i] !== name);
    return pairwiseSum(others) / others.length;
  });
  const error = names.length === gaps.length
    ? deviation(gaps) / Math.sqrt(gaps.length)
    : (names.length - 1) / Math.sqrt(names.length) * deviation(without);
  const reach = reaches[names.length - FEWEST_GROUPS] * error;
  return [mean, mean - reach, mean + reach];
}

// Nemenyi's critical difference of average ranks (Demšar 2006); null where there is none.
function criticalDifferenceOf(numCompetitors, numGroups, ranges) {
  if (numCompetitors < 3 || numGroups < 2) return null;
  return ranges[numCompetitors] / Math.SQRT2
    * Math.sqrt((numCompetitors * (numCompetitors + 1)) / (6 * numGroups));
}

// The largest groups, as first and last position, of ranks nearer to each other than a difference.
function joinedRanks(ranks, difference) {
  const ends = ranks.map((rank) => ranks.findLastIndex((other) => other - rank < difference));
  return ends.map((end, i) => [i, end])
    .filter(([start, end], i) => end > start && (i === 0 || ends[i - 1] < end));
}

// Average ranks at each level, such as each K, over the blocks where all losses have a score at
// every level: {rows, count}, rows with average ranks and positions, best at the first level first.
// losses: their numbers. levels: of each {blocks, score, keyOf}, keyOf(block) its name at all levels.
function ranksByLevel(cells, losses, levels) {
  const tables = levels.map(({ blocks, score, keyOf }) => new Map(blocks
    .map((b) => [keyOf(b), losses.map((c) => cells.scores[score].values[b * cells.competitors.length + c])])
    .filter(([, row]) => row.every((it) => it !== null))));
  const keys = [...tables[0]?.keys() ?? []].filter((key) => tables.every((table) => table.has(key)));
  const averages = tables.map((table) => {
    const ranks = keys.map((key) => ranksOf(table.get(key)));
    return losses.map((_, i) => sum(ranks.map((row) => row[i])) / keys.length);
  });
  const positions = averages.map((level) => level.map((own) => 1 + level.filter((other) => other < own).length));
  const rows = losses.map((c, i) => ({
    name: cells.competitors[c], averages: averages.map((it) => it[i]), positions: positions.map((it) => it[i]),
  }));
  return { rows: rows.sort((a, b) => a.positions[0] - b.positions[0]), count: keys.length };
}

// Ranks at every K of the page's metric.
function ranksByK(cells, { factors }) {
  const blocks = blocksOf(cells, factors);
  const levels = cells.everyK.map((score) => ({ level: cells.scores[score].k, blocks, score, keyOf: (b) => b }));
  const parts = levels.map(({ score }) => takingPart(cells, { factors, score }));
  const losses = [...cells.competitors.keys()].filter((c) => parts.some(({ has }) => blocks.some((b) => has(b, c))));
  return { ...ranksByLevel(cells, losses, levels), levels: levels.map(({ level }) => level) };
}

// Ranks at every embedding dimension that is left, by the score that is chosen.
function ranksByDimension(cells, chosen) {
  const { taking, has } = takingPart(cells, chosen);
  const own = cells.factors.find(({ name }) => name === cells.dimension);
  const others = cells.factors.filter((factor) => factor !== own);
  const keyOf = (b) => others.map(({ values }) => values[b]).join();
  const blocks = blocksOf(cells, chosen.factors).filter((b) => taking.some((c) => has(b, c)));
  const found = [...new Set(blocks.map((b) => own?.values[b] ?? null))].filter((it) => it !== null);
  const dimensions = found.map((it) => [Number(own.choices[it]), it]).sort(([a], [b]) => a - b);
  const levels = dimensions.map(([, value]) =>
    ({ blocks: blocks.filter((b) => own.values[b] === value), score: chosen.score, keyOf }));
  return { ...ranksByLevel(cells, taking, levels), levels: dimensions.map(([level]) => level) };
}

Object.assign(shared, {
  tournamentOf, blocksOf, intervalOf, criticalDifferenceOf, joinedRanks, ranksByK, ranksByDimension, pairwiseSum,
});
