"use strict";

// What the server knows, section by section; each message brings the sections that changed.
const known = { searches: {} };
const token = new URLSearchParams(location.search).get("token");
const at = (id) => document.getElementById(id);
const address = (path) => `${path}?token=${encodeURIComponent(token)}`;

const source = new EventSource(address("/events"));
source.onmessage = (event) => take(JSON.parse(event.data));
source.onopen = () => at("state").parentElement.classList.remove("is-lost");
source.onerror = () => {
  at("state").parentElement.classList.add("is-lost");
  at("state").textContent = "No connection: podium status has ended. What is below was last seen.";
};

// How old what is shown is: what the server says, and how long ago it said that.
let age = null;
let heard = performance.now();
const SILENCE_SECONDS = 20; // the server says its age every five

function showAge() {
  const silence = (performance.now() - heard) / 1000;
  const isOld = age !== null || silence > SILENCE_SECONDS;
  at("age").textContent = isOld ? ` · last read ${duration((age ?? 0) + silence)} ago` : "";
}
setInterval(showAge, 2000);

function take({ age: seconds, ...changed }) {
  age = seconds;
  heard = performance.now();
  showAge();
  Object.assign(known, changed, { searches: { ...known.searches, ...changed.searches } });
  if (known.study?.is_over && known.study.has_report) {
    source.close();
    location.reload(); // the page of a study that has ended is its report
    return;
  }
  const sections = { study: showState, control: showState, totals: showTotals, seconds_left: showEnd };
  const drawn = { budget: showBudget, spent: showSpent, curves: showCurves, failures: showFailures };
  const wanted = Object.keys(changed).map((name) => ({ ...sections, ...drawn })[name]);
  for (const show of new Set(wanted)) show?.();
  if (changed.searches) showSearches(changed.searches);
  if ("problem" in changed) showProblem();
}

// ---------------------------------------------------------------------------------- the totals

function showState() {
  const { study, control } = known;
  if (!study) return;
  at("name").textContent = document.title = study.name;
  at("where").textContent = `podium, live · ${study.folder}`;
  const paused = control?.is_paused ? "paused, " : "";
  const where = study.running_on ? ` on ${study.running_on}` : "";
  const text = control?.text ? ` · control.yaml: ${control.text}` : "";
  at("state").textContent = `${paused}${study.state}${where}${text}`;
  at("best-title").textContent = `Best ${study.score}`;
  const button = at("pause");
  if (button) button.textContent = control?.is_paused ? "Resume" : "Pause";
  showEnd();
}

function showTotals() {
  const { done, planned, running, failed, slots, gpus, nodes } = known.totals;
  at("trials").textContent = `${done} of ${planned}`;
  at("trials-note").textContent = planned ? `${Math.floor((100 * done) / planned)} %` : "";
  at("slots").textContent = slots === null ? `${running}` : `${running} of ${slots}`;
  at("slots-note").textContent = nodes.map((it) => `${it.node}: ${it.trials}`).join(", ");
  at("gpus").textContent = `${gpus}`;
  at("gpus-note").textContent = nodes.filter((it) => it.gpus).map((it) => `${it.node}: ${it.gpus}`).join(", ");
  at("failed").textContent = `${failed}`;
  fill(at("whole"), { complete: done - failed, failed, running }, planned, "Trials");
}

function showEnd() {
  const seconds = known.seconds_left;
  at("end").textContent = at("end-note").textContent = "";
  if (known.control?.is_paused || seconds === null || seconds === undefined) {
    at("end").textContent = "–";
    at("end-note").textContent = known.control?.is_paused ? "paused" : "";
    return;
  }
  const end = new Date(Date.now() + 1000 * seconds);
  const isToday = end.toDateString() === new Date().toDateString();
  const day = isToday ? "" : `${end.toLocaleDateString()} `;
  at("end").textContent = day + end.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  at("end-note").textContent = `in ${duration(seconds)}`;
}

function duration(seconds) {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function showProblem() {
  at("problem").hidden = !known.problem;
  at("problem").textContent = known.problem ?? "";
}

// A bar of parts; the words of its label say what the colours do.
function fill(bar, parts, whole, name) {
  const entries = Object.entries(parts).filter(([, count]) => count > 0);
  while (bar.children.length > entries.length) bar.lastChild.remove();
  entries.forEach(([kind, count], index) => {
    const part = bar.children[index] ?? bar.appendChild(document.createElement("i"));
    part.className = kind;
    part.style.width = `${(100 * count) / Math.max(whole, 1)}%`;
  });
  const words = entries.map(([kind, count]) => `${count} ${kind}`).join(", ") || "none done";
  bar.setAttribute("aria-label", `${name}: ${words}, of ${whole}`);
}

// -------------------------------------------------------------------------------- the searches

const rowOf = new Map();

function showSearches(changed) {
  for (const [id, search] of Object.entries(changed)) {
    if (!rowOf.has(id)) rowOf.set(id, newRow(id));
    const row = rowOf.get(id);
    const complete = search.done - search.pruned - Math.min(search.failed, search.done);
    const parts = { complete, pruned: search.pruned, failed: search.failed, running: search.running };
    row.cells[0].textContent = search.name;
    fill(row.cells[1].firstChild, parts, search.planned, search.name);
    const best = search.best === null ? "" : search.best.toFixed(4);
    const numbers = [`${search.done}/${search.planned}`, search.pruned, search.failed, search.running];
    [...numbers, `${search.finals_done}/${search.finals_planned}`, best].forEach((value, index) => {
      row.cells[2 + index].textContent = value || "";
    });
    row.classList.toggle("is-cancelled", search.is_cancelled);
    const button = row.querySelector("button");
    if (button) {
      button.textContent = search.is_cancelled ? "Undo" : "Cancel";
      button.setAttribute("aria-label", `${button.textContent} ${search.name}`);
    }
  }
  filterRows();
}

function newRow(id) {
  const row = at("rows").insertRow();
  const head = row.appendChild(document.createElement("th"));
  head.scope = "row";
  const bar = row.insertCell().appendChild(document.createElement("div"));
  bar.className = "bar";
  bar.setAttribute("role", "img");
  for (let index = 0; index < 6; index += 1) row.insertCell().className = "number";
  if (at("rows").dataset.control === "yes") {
    const button = row.insertCell().appendChild(document.createElement("button"));
    button.type = "button";
    button.onclick = () => {
      change(known.searches[id].is_cancelled ? { undo_cancel: id } : { cancel: id });
    };
  }
  return row;
}

function filterRows() {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rowOf.values()) {
    const name = row.cells[0].textContent.toLowerCase();
    row.hidden = !words.every((word) => name.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  at("shown").textContent = shown === rowOf.size ? `${shown} searches` : `${shown} of ${rowOf.size} searches`;
}
at("filter").addEventListener("input", filterRows);

// ------------------------------------------------------------------------- curves and spending

const PLOT = { style: { background: "transparent", fontSize: "12px" } };

let curveOf = new Map(); // trial -> its figure, and what it was drawn of
let range = [Infinity, -Infinity]; // of all curves, which only grows: axes stay as they are

function showCurves() {
  const shown = steady(known.curves.filter((curve) => curve.scores.length));
  const numRunning = known.curves.filter((curve) => curve.state === "RUNNING").length;
  const waiting = numRunning - shown.filter((curve) => curve.state === "RUNNING").length;
  const score = known.study?.score ?? "score";
  at("curves-note").textContent =
    `Validation ${score} of the trials that run, in green, and of those that ended last.` +
    (waiting ? ` ${waiting} running without a score yet: logs are written every few seconds.` : "");
  const values = shown.flatMap((curve) => curve.scores.map(([, , value]) => value));
  range = [
    Math.min(range[0], ...values.map((value) => Math.floor(10 * value) / 10)),
    Math.max(range[1], ...values.map((value) => Math.ceil(10 * value) / 10)),
  ];
  const figures = shown.map((curve) => {
    const drawn = JSON.stringify([curve, range]);
    const before = curveOf.get(curve.trial_id);
    return before?.drawn === drawn ? before : { drawn, figure: curveFigure(curve, score) };
  });
  curveOf = new Map(shown.map((curve, index) => [curve.trial_id, figures[index]]));
  arrange(at("curves"), figures.map((it) => it.figure));
}

// The curves in the order of the page: one that is new takes the place of one that is gone.
function steady(curves) {
  const present = new Map(curves.map((curve) => [curve.trial_id, curve]));
  const added = curves.filter((curve) => !curveOf.has(curve.trial_id));
  const kept = [...curveOf.keys()].map((id) => present.get(id) ?? added.shift());
  return [...kept.filter(Boolean), ...added];
}

// Children that stay are not moved: what is hovered, opened or read stays as it is.
function arrange(parent, children) {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index]);
  });
}

function curveFigure(curve, score) {
  const figure = document.createElement("figure");
  const caption = figure.appendChild(document.createElement("figcaption"));
  const isRunning = curve.state === "RUNNING";
  const last = curve.scores.at(-1);
  const where = [curve.stage, curve.state.toLowerCase(), curve.node, curve.device].filter(Boolean);
  caption.textContent = curve.search;
  const note = caption.appendChild(document.createElement("small"));
  note.textContent = `${where.join(" · ")} · ${score} ${last[2].toFixed(4)} at epoch ${last[1]}`;
  const points = curve.scores.map(([fold, epoch, value]) => ({ fold, epoch, value }));
  const colour = isRunning ? "var(--good)" : "var(--series-0)";
  const channels = { x: "epoch", y: "value", stroke: colour, z: "fold" };
  const svg = Plot.plot({
    ...PLOT,
    width: 290,
    height: 130,
    marginLeft: 44,
    marginRight: 12,
    x: { label: null, ticks: 5, tickFormat: (epoch) => (Number.isInteger(epoch) ? `${epoch}` : "") },
    y: { domain: range, label: null, ticks: 4, grid: true },
    marks: [
      Plot.line(points, { ...channels, strokeWidth: 1.75 }),
      Plot.dot(points, { ...channels, r: 2.2, fill: colour }),
      Plot.tip(points, Plot.pointer({ x: "epoch", y: "value", title: (it) => pointTitle(it, score) })),
    ],
  });
  svg.setAttribute("aria-hidden", "true"); // the caption has its last value
  figure.append(svg);
  return figure;
}

function pointTitle({ fold, epoch, value }, score) {
  return `${score} ${value.toFixed(4)}\nepoch ${epoch}, fold ${fold}`;
}

function showBudget() {
  const rows = known.budget.map(({ what, used, limit }) => {
    const row = document.createElement("div");
    row.className = "limit";
    const amount = Number(used.toPrecision(3));
    const text = limit === null ? `${amount}` : `${amount} of ${limit}`;
    const [name, bar, value] = ["span", "div", "span"].map((kind) => document.createElement(kind));
    name.textContent = what;
    value.textContent = text;
    bar.className = "bar";
    bar.setAttribute("role", "img");
    fill(bar, { complete: Math.min(amount, limit ?? 0) }, limit ?? 1, what);
    bar.setAttribute("aria-label", `${what}: ${text}`);
    row.append(name, bar, value);
    return row;
  });
  at("budget").replaceChildren(...rows);
  showSpent();
}

// What was spent over time, of what the budget limits; without a limit, the trials that ended.
function showSpent() {
  const spent = (known.spent ?? []).map(([time, trials, hours, gpuHours]) => {
    return { time: new Date(1000 * time), trials, hours, gpuHours };
  });
  at("spent").replaceChildren();
  at("spent-note").textContent = spent.length ? "" : "Nothing was spent yet.";
  if (!spent.length) return;
  const limits = new Map((known.budget ?? []).map(({ what, limit }) => [what, limit]));
  const isOfGpus = spent.at(-1).gpuHours > 0;
  const [y, label, limit] = isOfGpus
    ? ["gpuHours", "GPU-hours", limits.get("GPU-hours")]
    : limits.has("trials")
      ? ["trials", "trials", limits.get("trials")]
      : ["hours", "hours of trials", undefined];
  const width = Math.max(280, Math.min(900, at("spent").clientWidth));
  const svg = Plot.plot({
    ...PLOT,
    width,
    height: 220,
    marginLeft: 52,
    x: { type: "time", label: null, ticks: width < 500 ? 4 : 8 },
    y: { label: `↑ ${label}`, grid: true, zero: true, nice: true },
    marks: [
      Plot.ruleY([0], { stroke: "var(--rule)" }),
      limit ? Plot.ruleY([limit], { stroke: "var(--bad)", strokeDasharray: "5 4" }) : null,
      Plot.line(spent, { x: "time", y, stroke: "var(--series-0)", strokeWidth: 2, curve: "step-after" }),
      Plot.tip(spent, Plot.pointerX({ x: "time", y, title: spentTitle })),
    ],
  });
  svg.setAttribute("aria-hidden", "true"); // the sentence below says where it ends
  at("spent").append(svg);
  const last = spent.at(-1);
  const amount = `${Number(last[y].toPrecision(3))} ${label}`;
  const of = limit ? ` of ${limit}` : "";
  at("spent-note").textContent =
    `Spent by the trials that ended: ${amount}${of} in ${last.trials} trials.` +
    (limit ? " The dashed line is the limit." : "");
}

let redrawn;
addEventListener("resize", () => {
  clearTimeout(redrawn);
  redrawn = setTimeout(showSpent, 200);
});

function spentTitle({ time, trials, hours, gpuHours }) {
  const amounts = [`${trials} trials`, `${hours.toFixed(2)} hours of trials`];
  if (gpuHours) amounts.push(`${gpuHours.toFixed(2)} GPU-hours`);
  return [time.toLocaleString(), ...amounts].join("\n");
}

// -------------------------------------------------------------------------------- the failures

const failureOf = new Map();

function showFailures() {
  const { failures, totals, causes } = known;
  const total = totals?.failed ?? failures.length;
  const lines = [...causes];
  if (failures.length < total) {
    lines.push(`The last ${failures.length} of ${total}; podium trials --failed lists all.`);
  }
  at("failures-note").textContent = total ? lines.join("\n") : "None.";
  const boxes = failures.map((failure) => {
    if (!failureOf.has(failure.trial_id)) failureOf.set(failure.trial_id, failureBox(failure));
    return failureOf.get(failure.trial_id);
  });
  arrange(at("failures"), boxes);
}

function failureBox({ trial_id: id, search, stage, cause, message, ended_at: ended }) {
  const box = document.createElement("details");
  const summary = box.appendChild(document.createElement("summary"));
  const name = summary.appendChild(document.createElement("b"));
  name.textContent = cause;
  const when = new Date(1000 * ended).toLocaleString();
  summary.append(` ${message} · ${search}, ${stage}, trial ${id}, ${when}`);
  const log = box.appendChild(document.createElement("pre"));
  log.tabIndex = 0;
  log.setAttribute("aria-label", `Log of trial ${id}`);
  log.textContent = "Reading the log …";
  box.addEventListener("toggle", async () => {
    if (!box.open) return;
    try {
      const answer = await fetch(address(`/log/${encodeURIComponent(id)}`));
      log.textContent = await answer.text();
      log.scrollTop = log.scrollHeight;
    } catch {
      log.textContent = "The log cannot be read: there is no connection.";
    }
  });
  return box;
}

// --------------------------------------------------------------------------------- the control

async function change(wanted) {
  at("said").textContent = "…";
  try {
    const headers = { "X-Podium-Token": token, "Content-Type": "application/json" };
    const answer = await fetch("/control", { method: "POST", headers, body: JSON.stringify(wanted) });
    at("said").textContent = `${answer.ok ? "Written: " : "Refused: "}${(await answer.text()).trim()}`;
  } catch {
    at("said").textContent = "Not written: there is no connection.";
  }
}

at("pause")?.addEventListener("click", () => change({ pause: !known.control?.is_paused }));
at("set-concurrent")?.addEventListener("click", () => {
  const number = at("max-concurrent").valueAsNumber;
  change({ max_concurrent: Number.isNaN(number) ? null : number });
});
