// Chapters fold; the contents mark the one being read; a permalink opens what it points into.

const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
const folds = [...document.querySelectorAll("details")];

function openTo(hash) {
  const target = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
  for (let node = target; node; node = node.parentElement) {
    if (node.tagName === "DETAILS") node.open = true;
    node.dispatchEvent(new CustomEvent("podium:show", { bubbles: true }));
  }
  target?.querySelector(":scope > details.chapter")?.setAttribute("open", "");
  target?.scrollIntoView();
}
addEventListener("hashchange", () => openTo(location.hash));
if (location.hash) openTo(location.hash);
for (const link of links.values()) link.addEventListener("click", () => openTo(link.hash));

const all = document.querySelector(".contents .open-all");
all?.addEventListener("click", () => {
  const isOpening = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = isOpening;
  all.textContent = isOpening ? "Close all" : "Open all";
});

const sections = [...links.keys()].map((name) => document.getElementById(name)).filter(Boolean);

// What is read is the first section near the top of the window. The last ones never come there: at
// the end of the page it is what the address names, as far as that is seen.
function markRead() {
  const named = sections.find((section) => section.id === decodeURIComponent(location.hash.slice(1)));
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
  const isSeen = named && named.getBoundingClientRect().top < innerHeight;
  const current = isAtEnd && isSeen ? named : sections.find((section) => section.isRead);
  if (!current) return;
  for (const [name, link] of links) {
    if (name === current.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
const reader = new IntersectionObserver((entries) => {
  for (const entry of entries) entry.target.isRead = entry.isIntersecting;
  markRead();
}, { rootMargin: "-10% 0px -70% 0px" });
for (const section of sections) reader.observe(section);
addEventListener("scrollend", markRead);
addEventListener("hashchange", () => requestAnimationFrame(markRead));
