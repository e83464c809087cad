// Pressing a competitor, in a plot, a table or a legend, highlights it everywhere; pressing it
// again, or Escape, ends that.

let chosen = null;
const rule = document.createElement("style");
document.head.append(rule);

document.addEventListener("click", (event) => {
  const found = event.target.closest?.("[data-competitor]");
  if (found) highlight(found.dataset.competitor === chosen ? null : found.dataset.competitor);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && chosen !== null) highlight(null);
});

function highlight(name) {
  chosen = name;
  const other = name === null ? "" : `:not([data-competitor="${CSS.escape(name)}"])`;
  rule.textContent = name === null ? "" : `
    .plot [data-competitor]${other} { opacity: 0.15; }
    tr[data-competitor]${other} > * { opacity: 0.45; }
    tr[data-competitor="${CSS.escape(name)}"] > * { background: var(--raised); }`;
  for (const button of document.querySelectorAll("button[data-competitor]")) {
    button.setAttribute("aria-pressed", String(button.dataset.competitor === name));
  }
}
