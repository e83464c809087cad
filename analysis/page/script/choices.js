// One plot of a figure is shown at a time: of a block, a loss or the like. What is chosen is chosen
// for all figures of its chapter that differ in the same.

const selectors = []; // of the page: {chapter, name, labels, show}

for (const figure of document.querySelectorAll("figure[data-selector]")) addSelector(figure);

function addSelector(figure) {
  const plots = [...figure.querySelectorAll(".plot")];
  const names = plots.map((plot) => plot.dataset.label); // those of one name are shown together
  const labels = [...new Set(names)];
  const select = document.createElement("select");
  select.append(...labels.map((label) => new Option(label)));
  const show = (index) => {
    select.selectedIndex = index;
    plots.forEach((plot, i) => { plot.hidden = names[i] !== labels[index]; });
  };
  const own = { chapter: figure.closest(".sections"), name: figure.dataset.selector, labels, show };
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
  figure.addEventListener("podium:show", ({ target }) => {
    if (plots.includes(target)) choose(labels.indexOf(target.dataset.label));
  });
  if (labels.length > 1) {
    const label = document.createElement("label");
    label.append(`${own.name} `, select);
    label.className = "selector";
    figure.querySelector(".plots").before(label);
  }
  show(0);
}
