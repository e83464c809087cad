"use strict";

const token = new URLSearchParams(location.search).get("token");
const at = (id) => document.getElementById(id);
const address = (path) => `${path}?token=${encodeURIComponent(token)}`;
const make = (kind, text = "") => Object.assign(document.createElement(kind), { textContent: text });
const OLD_SECONDS = 45; // remote storage is read every 30
at("report").href = address("/report");
follow();
async function follow() {
  try {
    show(await (await fetch(address("/study"))).json());
  } catch {
    at("state").textContent = "No connection: podium status has ended. What is below was last seen.";
  }
  setTimeout(follow, 2000);
}

function show({ age, problem, ...study }) {
  at("problem").hidden = !problem;
  at("problem").textContent = problem;
  at("age").textContent = age > OLD_SECONDS ? ` · last read ${age} s ago` : "";
  if (!study.name) return;
  const { progress } = study;
  at("state").textContent = study.running_on ? `${study.state} on ${study.running_on}` : study.state;
  at("name").textContent = document.title = study.name;
  at("where").textContent = study.folder + (study.changes && ` · control.yaml: ${study.changes}`);
  at("report").hidden = !study.has_report;
  at("totals").textContent = study.totals;
  const { trials_done: done, trials_planned: planned, running, failed } = progress;
  fill(at("whole"), { complete: done - failed, failed, running }, planned, "Trials");
  showSearches(progress);
  showCurves(study.curves, progress.score);
  showFailures(study.failures, progress.failures);
}

// A bar of parts; the words of its label say what the colours do.
function fill(bar, parts, whole, name) {
  const entries = Object.entries(parts).filter(([, count]) => count > 0);
  bar.replaceChildren();
  for (const [kind, count] of entries) {
    const part = bar.appendChild(Object.assign(make("i"), { className: kind }));
    part.style.width = `${(100 * count) / Math.max(whole, 1)}%`;
  }
  const words = entries.map(([kind, count]) => `${count} ${kind}`).join(", ") || "none done";
  bar.setAttribute("aria-label", `${name}: ${words}, of ${whole}`);
}

function showSearches({ searches, score }) {
  at("best-title").textContent = `Best validation ${score}, %`;
  at("rows").replaceChildren(...searches.map(searchRow));
}

function searchRow({ name, done, planned, pruned, failed, running, best, ...search }) {
  const row = Object.assign(make("tr"), { className: search.is_cancelled ? "is-cancelled" : "" });
  row.append(Object.assign(make("th", name), { scope: "row" }));
  const bar = row.insertCell().appendChild(Object.assign(make("div"), { className: "bar" }));
  bar.setAttribute("role", "img");
  const complete = done - pruned - Math.min(failed, done);
  fill(bar, { complete, pruned, failed, running }, planned, name);
  const finals = `${search.finals_done}/${search.finals_planned}`;
  for (const value of [`${done}/${planned}`, pruned, failed, running, finals, best == null ? "" : (100 * best).toFixed(1)]) {
    row.append(Object.assign(make("td", value || ""), { className: "number" }));
  }
  return row;
}

function showCurves(curves, score) {
  const shown = curves.filter((curve) => curve.scores.length);
  const values = shown.flatMap((curve) => curve.scores.map(([, , value]) => value));
  const range = [Math.min(...values), Math.max(...values)];
  at("curves").replaceChildren(...shown.map((curve) => curveFigure(curve, score, range)));
}

function curveFigure({ search, stage, state, where, scores }, score, [low, high]) {
  const figure = make("figure");
  const [, epoch, value] = scores.at(-1);
  const words = [stage, state.toLowerCase(), where, `validation ${score} ${(100 * value).toFixed(1)} % at epoch ${epoch}`];
  const caption = figure.appendChild(make("figcaption", search));
  caption.append(make("small", words.filter(Boolean).join(" · ")));
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true"); // the caption has its last value
  const last = Math.max(...scores.map(([, at]) => at), 1);
  for (const fold of new Set(scores.map(([its]) => its))) {
    const line = svg.appendChild(document.createElementNS(svg.namespaceURI, "polyline"));
    const points = scores.filter(([its]) => its === fold);
    const places = points.map(([, at, height]) => [at / last, (height - low) / (high - low || 1)]);
    line.setAttribute("points", places.map(([x, y]) => `${100 * x},${97 - 94 * y}`).join(" "));
    line.style.stroke = state === "RUNNING" ? "var(--good)" : "var(--series-0)";
  }
  figure.append(svg);
  return figure;
}

const failureOf = new Map(); // what is opened stays open

function showFailures(failures, causes) {
  at("causes").textContent = causes.join("\n") || "None.";
  const boxes = failures.map((failure) => {
    if (!failureOf.has(failure.trial_id)) failureOf.set(failure.trial_id, failureBox(failure));
    return failureOf.get(failure.trial_id);
  });
  const present = [...at("failures").children];
  if (boxes.some((box, index) => box !== present[index])) at("failures").replaceChildren(...boxes);
}

function failureBox({ trial_id: id, search, stage, cause, message }) {
  const box = make("details");
  const summary = box.appendChild(make("summary"));
  summary.append(make("b", cause), ` ${message} · ${search}, ${stage}, trial ${id}`);
  const log = box.appendChild(make("pre", "Reading the log …"));
  log.tabIndex = 0;
  log.setAttribute("aria-label", `Log of trial ${id}`);
  box.addEventListener("toggle", async () => {
    if (!box.open) return;
    try {
      log.textContent = await (await fetch(address(`/log/${encodeURIComponent(id)}`))).text();
    } catch {
      log.textContent = "The log cannot be read: there is no connection.";
    }
  });
  return box;
}
