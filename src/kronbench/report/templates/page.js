"use strict";
// Thumbnails show what the page holds already: the picture, or the upper left corner of a table.
for (const thumb of document.querySelectorAll(".thumb")) {
  const article = document.getElementById(thumb.dataset.of);
  const picture = article.querySelector("img");
  thumb.setAttribute("aria-hidden", "true");
  if (picture) {
    const image = new Image();
    image.alt = "";
    image.src = picture.src;
    thumb.append(image);
  } else {
    const corner = document.createElement("table");
    for (const row of [...article.querySelector(".layout").rows].slice(0, 9)) {
      const copy = corner.insertRow();
      copy.append(...[...row.cells].slice(0, 6).map((cell) => cell.cloneNode(true)));
    }
    thumb.append(corner);
  }
}

// What scrolls can be scrolled with the keyboard, and what does not is no stop on its way.
function stops() {
  for (const region of document.querySelectorAll(".scroll")) {
    const wide = region.scrollWidth > region.clientWidth;
    region.classList.toggle("wide", wide);
    if (wide || region.scrollHeight > region.clientHeight) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  }
}
window.addEventListener("resize", stops);
document.addEventListener("toggle", stops, true);
stops();

// On paper nothing unfolds.
window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".how")) part.open = true;
});

// Filters, search and order of the claims; their state is in the address: #claims?paper=...
const form = document.getElementById("filters");
const table = document.getElementById("claims-table");
const body = table.tBodies[0];
const rows = [...body.rows];
const headings = [...table.tHead.rows[0].cells];
let order = null;

function wanted() {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
}

function filter() {
  const parameters = wanted();
  const words = (parameters.get("q") || "").toLowerCase().split(/\s+/); // all of them, in any order
  parameters.delete("q");
  let shown = 0;
  for (const row of rows) {
    const fits = [...parameters].every(([key, value]) => row.dataset[key] === value);
    const text = `${row.id} ${row.textContent}`.toLowerCase();
    row.hidden = !(fits && words.every((word) => text.includes(word)));
    shown += !row.hidden;
  }
  document.getElementById("shown").textContent = `${shown} of ${rows.length} claims`;
  stops();
}

function sort(column, descending) {
  order = { column, descending };
  headings.forEach((heading, index) => {
    const state = index !== column ? "none" : descending ? "descending" : "ascending";
    heading.setAttribute("aria-sort", state);
  });
  const key = (row) => row.cells[column].dataset.key || row.cells[column].textContent;
  const sorted = [...rows].sort((a, b) => key(a).localeCompare(key(b), "en", { numeric: true }));
  body.append(...(descending ? sorted.reverse() : sorted));
}

function remember() {
  const parameters = wanted();
  if (order) parameters.set("sort", `${order.column}${order.descending ? "-" : ""}`);
  const state = parameters.toString();
  history.replaceState(null, "", state ? `#claims?${state}` : "#claims");
}

function recall() {
  const [place, state] = location.hash.slice(1).split("?");
  const linked = rows.find((row) => row.id === place);
  if (linked && linked.hidden) {
    form.reset(); // a link to a claim that the filters hide
    linked.hidden = false;
    linked.scrollIntoView();
  }
  if (place !== "claims" || state === undefined) return;
  const parameters = new URLSearchParams(state);
  for (const field of form.elements) {
    if (field.name) field.value = parameters.get(field.name) || "";
  }
  const given = /^(\d)(-?)$/.exec(parameters.get("sort") || "");
  if (given && headings[given[1]]) sort(Number(given[1]), given[2] === "-");
  filter();
  document.getElementById("claims").scrollIntoView();
}

form.addEventListener("input", () => { filter(); remember(); });
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => {
  filter();
  if (!location.hash.startsWith("#claim-")) remember();
}));
headings.forEach((heading, index) => heading.addEventListener("click", () => {
  sort(index, order !== null && order.column === index && !order.descending);
  remember();
}));
window.addEventListener("hashchange", recall);
filter();
recall();

// A table in the text forms that papers and issues take, or a line of code as it stands.
function copied(button) {
  if (button.dataset.copy === "code") {
    return button.parentElement.querySelector("code").textContent.replace(/\s+/g, " ");
  }
  return button.closest("article").querySelector(`[data-text=${button.dataset.copy}]`).textContent;
}
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const said = button.parentElement.querySelector("[role=status]");
    try {
      await navigator.clipboard.writeText(copied(button));
      said.textContent = "copied";
    } catch {
      said.textContent = "this browser does not let pages copy";
    }
  });
}
