// The browser of retrieved images. Python chooses the queries and their orders; this shows them.
const retrieval = document.getElementById("retrieval");
if (retrieval) startRetrieval(retrieval);

function startRetrieval(root) {
  const IMAGES_OF_SHEET = 256;
  const COLUMNS = 16;
  const blocks = JSON.parse(root.querySelector("script").textContent);
  const blank = root.querySelector("template").content.querySelector(".card");
  const cards = root.querySelector(".cards");
  const status = root.querySelector("[role=status]");
  const control = (name) => root.querySelector(`[name=${name}]`);
  const state = { pair: null, start: 0, places: [] };

  root.querySelector(".retrieval-tools").hidden = false;
  cards.tabIndex = 0;
  control("block").addEventListener("change", () => { state.pair = null; choose(); });
  control("order").addEventListener("change", choose);
  control("class").addEventListener("input", choose);
  control("back").addEventListener("click", () => turn(-1));
  control("on").addEventListener("click", () => turn(1));
  control("every").addEventListener("click", () => { state.pair = null; choose(); cards.focus({ preventScroll: true }); });
  root.addEventListener("keydown", (event) => {
    if (event.target.matches("select, input") || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    turn(step);
  });
  blocks.forEach(linkPairs);
  choose();

  function block() {
    return blocks[Number(control("block").value)];
  }

  function choose() {
    state.places = placesOf(block());
    state.start = 0;
    blocks.forEach((_, place) => {
      const fold = foldOf(place);
      if (fold) fold.hidden = place !== Number(control("block").value);
    });
    show();
  }

  // Queries in the chosen order; where they are filtered, all that the page has.
  function placesOf({ orders, queries, images, classes, neighbours }) {
    const order = orders[control("order").value];
    const wanted = control("class").value.trim().toLowerCase();
    if (!wanted && !state.pair) return order;
    const nameOf = (image) => classes[images[image]];
    const all = [...new Set([...order, ...queries.keys()])];
    return all.filter((place) => {
      const name = nameOf(queries[place]);
      const nearest = neighbours[place].map((row) => nameOf(row[0]));
      const [own, other] = state.pair ?? [];
      return name.toLowerCase().includes(wanted)
        && (!state.pair || (name === own && nearest.includes(other)));
    });
  }

  function turn(step) {
    const start = state.start + step * block().pageSize;
    if (start < 0 || start >= state.places.length) return;
    state.start = start;
    show();
  }

  function show() {
    const { name, pageSize } = block();
    root.querySelector(".block-name").textContent = name; // for paper
    const end = Math.min(state.start + pageSize, state.places.length);
    const shown = state.places.slice(state.start, end);
    cards.replaceChildren(...shown.map((place) => cardOf(block(), place)));
    const count = state.places.length.toLocaleString("en");
    const of = state.pair ? `: ${state.pair[0]}, nearest image of ${state.pair[1]}` : "";
    status.textContent = shown.length
      ? `Queries ${state.start + 1} to ${end} of ${count}${of}`
      : `No query shown${of}`;
    control("back").disabled = state.start === 0;
    control("on").disabled = end >= state.places.length;
    control("every").hidden = !state.pair;
  }

  // As _card of retrievals.py makes it.
  function cardOf(shown, place) {
    const card = blank.cloneNode(true);
    const [query] = card.querySelectorAll(".query");
    fill(query, shown, shown.queries[place], "query", "query: ", "");
    const rows = card.querySelector(".rows");
    const model = rows.querySelector(".row");
    rows.replaceChildren(...shown.losses.map((loss, number) =>
      rowOf(model.cloneNode(true), shown, place, loss, number)));
    return card;
  }

  function rowOf(row, shown, place, [loss, key], number) {
    row.querySelector(".key use").setAttribute("href", `#${key}`);
    row.querySelector(".loss-name").textContent = loss;
    const list = row.querySelector(".neighbours");
    list.setAttribute("aria-label", `Nearest images under ${loss}`);
    const model = list.querySelector(".tile");
    const own = shown.images[shown.queries[place]];
    const images = shown.neighbours[place][number];
    const isRight = images.map((image) => shown.images[image] === own);
    list.replaceChildren(...images.map((image, rank) => {
      const tile = model.cloneNode(true);
      const similarity = (shown.similarities[place][number][rank] / 100).toFixed(2);
      const [kind, alt, sign] = !shown.byClass ? ["found", "", ""]
        : isRight[rank] ? ["hit", "right: ", "✓ "] : ["miss", "wrong: ", "✗ "];
      fill(tile, shown, image, kind, alt, `${sign}${similarity}`);
      return tile;
    }));
    row.querySelector("small").textContent = shown.byClass
      ? `${isRight.filter(Boolean).length} of ${images.length} right` : "";
    return row;
  }

  function fill(tile, shown, image, kind, alt, mark) {
    const name = shown.classes[shown.images[image]];
    const picture = tile.querySelector(".picture");
    const within = image % IMAGES_OF_SHEET;
    const left = (within % COLUMNS) * shown.cell;
    const upper = Math.floor(within / COLUMNS) * shown.cell;
    const sheet = Math.floor(image / IMAGES_OF_SHEET);
    tile.className = `tile ${kind}`;
    picture.classList.toggle("coarse", shown.isCoarse);
    picture.setAttribute("viewBox", `${left} ${upper} ${shown.cell} ${shown.cell}`);
    picture.setAttribute("aria-label", `${alt}${name}`);
    const id = `sheet-${blocks.indexOf(shown)}-${sheet}`;
    load(document.getElementById(id));
    picture.querySelector("use").setAttribute("href", `#${id}`);
    if (mark) tile.querySelector(".mark").textContent = mark;
    const label = tile.querySelector(".class-name");
    label.textContent = shown.prefix && kind !== "query" ? `…${name.slice(shown.prefix)}` : name;
    label.title = name;
  }

  // A sheet is decoded when it is first shown: all at once would delay the page.
  function load(sheet) {
    if (sheet.hasAttribute("href")) return;
    sheet.setAttribute("href", sheet.dataset.href);
    delete sheet.dataset.href;
  }

  function foldOf(place) {
    return document.getElementById(`confused-${place}`)?.closest("details");
  }

  // Pressing a confused pair shows its queries.
  function linkPairs({ pairs }, place) {
    const rows = document.getElementById(`confused-${place}`)?.tBodies[0].rows ?? [];
    [...rows].forEach((row, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "link";
      button.append(...row.cells[0].childNodes);
      row.cells[0].append(button);
      button.addEventListener("click", () => {
        state.pair = pairs[number];
        control("class").value = "";
        choose();
        root.scrollIntoView();
        cards.focus({ preventScroll: true });
      });
    });
  }
}
