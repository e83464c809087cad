// One block, loss or the like is shown at a time: plots of a figure, or folds. What is chosen is
// chosen for all of its chapter that differ in the same.

const selectors = []; // of the page: {chapter, name, labels, show}

for (const figure of document.querySelectorAll("figure[data-selector]")) {
  const plots = [...figure.querySelectorAll(".plot")];
  addSelector(figure, figure.querySelector(".plots"), plots, plots.map((plot) => plot.dataset.label));
}
for (const choice of document.querySelectorAll(".choice")) {
  const folds = [...choice.children];
  const summaries = folds.map((fold) => fold.firstElementChild);
  folds.forEach((fold, i) => {
    fold.open = true;
    summaries[i].hidden = true; // the selector has it
  });
  addSelector(choice, folds[0], folds, summaries.map((summary) => summary.textContent));
}

// Puts the selector into the box, before one of its nodes. names: names of the elements; those of
// one name are shown together.
function addSelector(box, before, elements, names) {
  const labels = [...new Set(names)];
  const select = document.createElement("select");
  select.append(...labels.map((label) => new Option(label)));
  const show = (index) => {
    select.selectedIndex = index;
    elements.forEach((element, i) => { element.hidden = names[i] !== labels[index]; });
  };
  const own = { chapter: box.closest(".sections"), name: box.dataset.selector, labels, show };
  const choose = (index) => {
    for (const other of selectors) {
      if (other.chapter !== own.chapter || other.name !== own.name) continue;
      const same = other === own ? index : other.labels.indexOf(labels[index]);
      if (same >= 0) other.show(same);
    }
  };
  selectors.push(own);
  select.addEventListener("change", () => choose(select.selectedIndex));
  // A permalink shows what it leads into.
  box.addEventListener("podium:show", ({ target }) => {
    if (elements.includes(target)) choose(labels.indexOf(names[elements.indexOf(target)]));
  });
  if (labels.length > 1) {
    const label = document.createElement("label");
    label.append(`${own.name} `, select);
    label.className = "selector";
    before.before(label);
  }
  show(0);
}
