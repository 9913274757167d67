"use strict";
// Tables that one sorts, filters and scrolls: wherever tables.html.j2 sets them.

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

// What is long and folded is held compressed in the page, and is set when it is unfolded.
async function unpack(part) {
  const packed = Uint8Array.from(atob(part.dataset.held), (sign) => sign.charCodeAt(0));
  delete part.dataset.held;
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  part.insertAdjacentHTML("beforeend", await new Response(stream).text());
  prepare(part);
}
document.addEventListener("toggle", ({ target }) => (target.dataset.held ? unpack(target) : stops(target)), true);

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

// What a cell is sorted by: its key or its text, by the first number there, with a power of ten if it has one.
function keyOf(cell) {
  const text = cell.dataset.key ?? cell.textContent.trim();
  const plain = text.normalize("NFKC").replaceAll("\u2212", "-").replace(/(\d) (?=\d{3}\b)/g, "$1");
  const [, digits, power] = /^[≥>< ]*(-?\d*\.?\d+)(?:·10(-?\d+))?/.exec(plain) || [];
  const exact = cell.dataset.key ? Number(cell.dataset.key) : NaN;
  return { text, number: Number.isNaN(exact) ? Number(`${digits}e${power || 0}`) : exact };
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

// Where the typed words stand in heads of columns, and in no label of a row, show these columns alone.
function filterColumns(table, words) {
  const [first] = table.tBodies[0].rows;
  const labels = [...table.tBodies[0].querySelectorAll("th")].map((cell) => cell.textContent.toLowerCase());
  const n = first.querySelectorAll("th").length;
  const heads = headsOf(table).map((head, at) => (at < n ? "" : head.textContent.toLowerCase()));
  // An outer head names all columns below it, and spans those that are shown.
  const outer = [...table.tHead.rows].slice(0, -1).flatMap((line) => {
    let at = n;
    return [...line.cells].filter((cell) => cell.rowSpan === 1).map((head) => {
      head.dataset.span ??= head.colSpan;
      const start = at;
      at += Number(head.dataset.span);
      for (let below = start; below < at; below += 1) heads[below] += ` ${head.textContent.toLowerCase()}`;
      return { head, start, end: at };
    });
  });
  const named = words.filter((word) => heads.some((head) => head.includes(word))
    && !labels.some((label) => label.includes(word)));
  const shown = heads.map((head, at) => at < n || !named.length || named.some((word) => head.includes(word)));
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, at) => { cell.hidden = !shown[at]; });
  }
  headsOf(table).forEach((head, at) => { head.hidden = !shown[at]; });
  for (const { head, start, end } of outer) {
    const width = shown.slice(start, end).filter(Boolean).length;
    head.hidden = !width;
    head.colSpan = width || 1;
  }
  return words.filter((word) => !named.includes(word));
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

// A field above a long table shows the rows that have all of its words, or the columns that they name.
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
    flatten(table.tBodies[0]);
    const words = filterColumns(table, field.value.toLowerCase().split(/\s+/).filter(Boolean));
    said.textContent = `${filter(table, words.join(" "))} of ${table.tBodies[0].rows.length} rows`;
  });
}

// Where nothing points, a press shows what is said of a number.
document.addEventListener("click", ({ target }) => target.closest("td[title]")?.classList.toggle("open"));

function prepare(part) {
  part.querySelectorAll(".layout, .numbers, #claims-table").forEach(sortable);
  for (const table of part.querySelectorAll(".layout, .numbers")) {
    if (table.tBodies[0].rows.length >= 10) filterable(table);
  }
  stops(part);
}
prepare(document);

