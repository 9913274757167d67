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

// What scrolls can be scrolled with the keyboard, and what does not is no stop on its way. A table
// that is wider than the window is set in smaller type first.
function stops(part = document) {
  const regions = [...part.querySelectorAll(".scroll")];
  const wide = (region) => region.scrollWidth > region.clientWidth;
  for (const name of ["tight", "wide"]) {
    regions.forEach((region) => region.classList.remove(name));
    const found = regions.filter(wide); // all are measured before one is changed
    found.forEach((region) => region.classList.add(name));
  }
  const scrolling = regions.map((region) => wide(region) || region.scrollHeight > region.clientHeight);
  regions.forEach((region, at) => {
    if (scrolling[at]) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  });
}
window.addEventListener("resize", () => stops());
document.addEventListener("toggle", (event) => stops(event.target), true);

// On paper nothing unfolds.
window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".how")) part.open = true;
});

// A label of several rows stands in each of them, before these part.
function flatten(body) {
  for (let column = 0; column < body.rows[0]?.cells.length; column += 1) {
    [...body.rows].forEach((row, at) => {
      const cell = row.cells[column];
      const span = cell.rowSpan;
      cell.rowSpan = 1;
      for (let below = 1; below < span; below += 1) {
        body.rows[at + below].insertBefore(cell.cloneNode(true), body.rows[at + below].cells[column]);
      }
    });
  }
}

// What a cell is sorted by: its first number, with a power of ten if it has one, and its text.
function keyOf(cell) {
  const text = cell.dataset.key || cell.textContent.trim();
  const plain = text.normalize("NFKC").replaceAll("\u2212", "-").replace(/(\d) (?=\d{3}\b)/g, "$1");
  const [, digits, power] = /^[≥>< ]*(-?\d*\.?\d+)(?:·10(-?\d+))?/.exec(plain) || [];
  return { text, number: Number(`${digits}e${power || 0}`) };
}

function compare(a, b) {
  return Number.isNaN(a.number) - Number.isNaN(b.number) || a.number - b.number || a.text.localeCompare(b.text, "en");
}

// The heads of a table's columns: labels that reach down to the last line, then that line.
function headsOf(table) {
  const lines = [...table.tHead.rows];
  return [...lines.slice(0, -1).flatMap((line) => [...line.cells].filter((cell) => cell.rowSpan > 1)), ...lines.at(-1).cells];
}

// Order by a column, in which empty cells come last.
function sort(table, column, descending) {
  const body = table.tBodies[0];
  flatten(body);
  headsOf(table).forEach((head, index) => {
    if (head.ariaSort) head.ariaSort = index !== column ? "none" : descending ? "descending" : "ascending";
  });
  const keyed = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
  keyed.sort(([a], [b]) => !a.text - !b.text || compare(a, b) * (descending ? -1 : 1));
  body.append(...keyed.map(([, row]) => row));
}

// Show the rows that have all words, in any order; how many these are.
function filter(table, words, fits = () => true) {
  flatten(table.tBodies[0]);
  const parts = words.toLowerCase().split(/\s+/);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const text = `${row.id} ${row.textContent}`.toLowerCase();
    row.hidden = !(fits(row) && parts.every((word) => text.includes(word)));
    shown += !row.hidden;
  }
  stops(table.closest(".scroll").parentElement);
  return shown;
}

// Each head of a column becomes a button that sorts by it, from the other end at a second press.
function sortable(table) {
  headsOf(table).forEach((head, column) => {
    if (head.tagName !== "TH" || head.colSpan > 1) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    head.ariaSort = "none";
    button.addEventListener("click", () => {
      sort(table, column, head.ariaSort === "ascending");
      table.dispatchEvent(new Event("sorted"));
    });
  });
}

// A field above a long table shows the rows that have all of its words.
function filterable(table) {
  const field = document.createElement("input");
  field.type = "search";
  const label = document.createElement("label");
  label.append("filter ", field);
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  const line = document.createElement("div");
  line.className = "filter";
  line.append(label, " ", said);
  table.closest(".scroll").before(line);
  field.addEventListener("input", () => {
    said.textContent = `${filter(table, field.value)} of ${table.tBodies[0].rows.length} rows`;
  });
}

document.querySelectorAll(".layout, .numbers, #claims-table").forEach(sortable);
for (const table of document.querySelectorAll(".layout, .numbers")) {
  if (table.tBodies[0].rows.length >= 10) filterable(table);
}
stops();

// The filters and the order of the claims are in the address: #claims?paper=...
const form = document.getElementById("filters");
const table = document.getElementById("claims-table");
const rows = [...table.tBodies[0].rows];

function wanted() {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
}

function filterClaims() {
  const parameters = wanted();
  const words = parameters.get("q") || "";
  parameters.delete("q");
  const shown = filter(table, words, (row) => [...parameters].every(([key, value]) => row.dataset[key] === value));
  document.getElementById("shown").textContent = `${shown} of ${rows.length} claims`;
}

function remember() {
  const parameters = wanted();
  const sorted = headsOf(table).findIndex((head) => head.ariaSort !== "none");
  if (sorted >= 0) parameters.set("sort", `${sorted}${headsOf(table)[sorted].ariaSort === "descending" ? "-" : ""}`);
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
  if (given && headsOf(table)[given[1]]) sort(table, Number(given[1]), given[2] === "-");
  filterClaims();
  document.getElementById("claims").scrollIntoView();
}

form.addEventListener("input", () => { filterClaims(); remember(); });
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => {
  filterClaims();
  if (!location.hash.startsWith("#claim-")) remember();
}));
table.addEventListener("sorted", remember);
window.addEventListener("hashchange", recall);
filterClaims();
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
