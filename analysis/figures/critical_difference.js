// Critical-difference diagram: names by average rank, brackets join those that do not differ.

const BRACKET = 11; // pixels beside the next
const BRACKETS_SHARE = 0.3; // of the width, at most
const INSET = 8; // pixels between the ends of the axis and its edges
const BAR = 34; // pixels above the ranks, for the bar of the critical difference

kinds.critical_difference = ({ names, ranks, groups, test, criticalDifference }, width) => {
  const rows = names.map((name, i) => ({ name, rank: ranks[i] }));
  const last = names.length;
  const names_and_ranks = rows.map((it) => `${it.name}  ${numberText(it.rank)}`);
  const { labels, room: left, apart } = labelsOf(names_and_ranks, width, 0.42);
  const line = Math.max(apart, last > 24 ? 17 : 24);
  const most = Math.max(1, Math.floor(BRACKETS_SHARE * width / BRACKET));
  const shown = groups.slice(0, most);
  const right = BRACKET * shown.length + 22;
  const more = groups.length - shown.length;
  const ticks = Math.max(2, Math.min(last - 1, Math.floor((width - left - right) / 34)));
  const bar = criticalDifference === null ? 8 : BAR;
  const places = new Map(names.map((name, i) => [name, i]));
  const equals = (name) => new Set(groups.filter((group) => group.includes(name)).flat().filter((it) => it !== name));
  const tip = (it) => {
    const others = names.filter((name) => equals(it.name).has(name));
    const listed = others.length > 8 ? `${others.slice(0, 8).join(", ")} and ${others.length - 8} more` : others.join(", ");
    return [
      it.name, `average rank ${numberText(it.rank)}`,
      others.length ? `not significantly different from ${listed} (${test})` : `significantly different from all others (${test})`,
    ].join("\n");
  };
  return plotOf(width, {
    height: bar + 24 + line * last + 40 + (more ? 16 : 0),
    marginTop: bar + 24, marginBottom: 40 + (more ? 16 : 0), marginLeft: left, marginRight: right,
    x: { domain: [1, Math.max(2, last)], axis: "top", label: null, tickFormat: "d", ticks, inset: INSET },
    y: { type: "point", domain: names, label: null, tickSize: 0, padding: 0.5,
      tickFormat: (name) => labels[places.get(name)] },
    marks: [
      Plot.gridX({ ticks, strokeOpacity: 0.12 }),
      ...(criticalDifference === null ? [] : barOf(criticalDifference, names[0], line)),
      Plot.ruleY(rows, { y: "name", x1: 1, x2: "rank", stroke: (it) => colourOf(it.name), strokeOpacity: 0.35, strokeWidth: 1.5, insetLeft: -INSET, ...tagged(rows, (it) => it.name) }),
      Plot.dot(rows, { y: "name", x: "rank", r: 5, fill: (it) => colourOf(it.name), symbol: (it) => symbolOf(it.name), ...tagged(rows, (it) => it.name) }),
      ...shown.flatMap((group, i) => bracketOf(group, i, places)),
      Plot.text(["Average rank (1 is best)"], { frameAnchor: "bottom-left", dy: 16, textAnchor: "start" }),
      ...(more ? [Plot.text([`${more} more ${more === 1 ? "group is" : "groups are"} in the table.`], { frameAnchor: "bottom-left", dy: 32, textAnchor: "start", fill: "var(--muted)" })] : []),
      Plot.tip(rows, Plot.pointerY({ y: "name", x: "rank", title: tip })),
    ],
  });
};

// The critical difference as long as it is on the axis of ranks, from the first rank on.
function barOf(length, first, line) {
  const dy = -line / 2 - BAR;
  const ends = [1, 1 + length];
  const at = { x: (rank) => rank, y: () => first };
  return [
    Plot.text([1], { ...at, dy: dy - 8, dx: -4, textAnchor: "start", text: () => `CD = ${numberText(length)}` }),
    Plot.line(ends, { ...at, dy: dy + 4, strokeWidth: 2 }),
    Plot.dot(ends, { ...at, dy: dy + 4, symbol: "square", r: 3, fill: "currentColor" }),
  ];
}

// A vertical line with a dot at each member, dotted where it passes others.
function bracketOf(group, index, places) {
  const at = { x: () => Math.max(2, places.size), dx: INSET + 12 + BRACKET * index };
  const members = [...group].sort((a, b) => places.get(a) - places.get(b));
  const steps = members.slice(1).map((to, i) => ({ from: members[i], to, isNext: places.get(to) === places.get(members[i]) + 1 }));
  const rule = (data, options) => Plot.ruleX(data, { ...at, y1: "from", y2: "to", ...options });
  return [
    rule(steps.filter((it) => it.isNext), { strokeWidth: 2.5 }),
    rule(steps.filter((it) => !it.isNext), { strokeWidth: 1, strokeDasharray: "1 3" }),
    Plot.dot(members, { ...at, y: (name) => name, r: 3.4, fill: "currentColor", ...tagged(members, (name) => name) }),
  ];
}
