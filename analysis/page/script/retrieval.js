// The browser of retrieved images. Python chooses the queries and their orders; this shows them.
const retrieval = document.getElementById("retrieval");
if (retrieval) startRetrieval(retrieval);

function startRetrieval(root) {
  const blocks = JSON.parse(root.querySelector("script").textContent);
  const cards = root.querySelector(".cards");
  const status = root.querySelector("[role=status]");
  const control = (name) => root.querySelector(`[name=${name}]`);
  const copy = (model) => root.querySelector(model).content.cloneNode(true);
  const block = () => blocks[Number(control("block").value)];
  let start = 0;
  let places = [];

  root.querySelector(".retrieval-tools").hidden = false;
  cards.tabIndex = 0;
  for (const name of ["block", "order", "class"]) control(name).addEventListener("input", choose);
  control("back").addEventListener("click", () => turn(-1));
  control("on").addEventListener("click", () => turn(1));
  root.addEventListener("keydown", (event) => {
    if (event.target.matches("select, input") || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    turn(step);
  });
  choose();

  // Queries in the chosen order; where they are filtered, all that the page has.
  function choose() {
    const { orders, queries, images, classes } = block();
    const order = orders[control("order").value];
    const wanted = control("class").value.trim().toLowerCase();
    places = !wanted ? order : [...new Set([...order, ...queries.keys()])].filter((place) =>
      classes[images[queries[place]][0]].toLowerCase().includes(wanted));
    start = 0;
    show();
  }

  function turn(step) {
    const next = start + step * block().pageSize;
    if (next < 0 || next >= places.length) return;
    start = next;
    show();
  }

  function show() {
    const { name, pageSize } = block();
    root.querySelector(".block-name").textContent = name; // for paper
    const end = Math.min(start + pageSize, places.length);
    cards.replaceChildren(...places.slice(start, end).map(cardOf));
    status.textContent = places.length
      ? `Queries ${start + 1} to ${end} of ${places.length.toLocaleString("en")}` : "No query shown";
    control("back").disabled = start === 0;
    control("on").disabled = end >= places.length;
  }

  function cardOf(place) {
    const { queries, losses } = block();
    const card = element("li", "card");
    const rows = element("div", "rows");
    rows.append(...losses.map((_, number) => rowOf(place, number)));
    card.append(tileOf("div", queries[place], "query", "query: ", "Query"), rows);
    return card;
  }

  function rowOf(place, number) {
    const { losses, queries, images, neighbours, similarities, byClass } = block();
    const [loss, key] = losses[number];
    const row = copy(".row-model");
    row.querySelector(".key use").setAttribute("href", `#${key}`);
    row.querySelector(".loss-name").textContent = loss;
    const list = row.querySelector(".neighbours");
    list.setAttribute("aria-label", `Nearest images under ${loss}`);
    const found = neighbours[place][number];
    const isRight = found.map((image) => images[image][0] === images[queries[place]][0]);
    list.append(...found.map((image, rank) => {
      const similarity = (similarities[place][number][rank] / 100).toFixed(2);
      const [kind, alt, sign] = !byClass ? ["found", "", ""]
        : isRight[rank] ? ["hit", "right: ", "✓ "] : ["miss", "wrong: ", "✗ "];
      return tileOf("li", image, kind, alt, `${sign}${similarity}`);
    }));
    if (byClass) row.querySelector("small").textContent = `${isRight.filter(Boolean).length} of ${found.length} right`;
    return row;
  }

  function tileOf(tag, image, kind, alt, mark) {
    const [label, content] = block().images[image];
    const name = block().classes[label];
    const tile = element(tag, `tile ${kind}`);
    tile.append(copy(".tile-model"));
    const picture = tile.querySelector(".picture");
    picture.src = `data:image/webp;base64,${content}`;
    picture.alt = `${alt}${name}`;
    tile.querySelector(".mark").textContent = mark;
    const parts = name.split(/(?<=[_.-])/); // where a name may break
    tile.querySelector(".class-name").append(...parts.flatMap((part, i) => (i ? [element("wbr", ""), part] : [part])));
    return tile;
  }

  function element(tag, className) {
    return Object.assign(document.createElement(tag), { className });
  }
}
