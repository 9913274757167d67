"use strict";
// Thumbnails show the pictures that the page holds already: each is in it once.
for (const thumb of document.querySelectorAll(".thumb")) {
  const picture = document.getElementById(thumb.dataset.of);
  if (picture) {
    const image = new Image();
    image.alt = "";
    image.src = picture.src;
    thumb.append(image);
  } else {
    thumb.classList.add("table");
  }
}

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
  const text = (parameters.get("q") || "").toLowerCase();
  parameters.delete("q");
  let shown = 0;
  for (const row of rows) {
    const fits = [...parameters].every(([key, value]) => row.dataset[key] === value);
    row.hidden = !(fits && row.textContent.toLowerCase().includes(text));
    shown += !row.hidden;
  }
  document.getElementById("shown").textContent = `${shown} of ${rows.length} claims`;
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
form.addEventListener("reset", () => setTimeout(() => { filter(); remember(); }));
headings.forEach((heading, index) => heading.addEventListener("click", () => {
  sort(index, order !== null && order.column === index && !order.descending);
  remember();
}));
window.addEventListener("hashchange", recall);
filter();
recall();

// A table in the text forms that papers and issues take.
const forms = {
  markdown: (cells) => {
    const line = (row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    const rule = line(cells[0].map(() => "---"));
    return [line(cells[0]), rule, ...cells.slice(1).map(line)].join("\n");
  },
  latex: (cells) => {
    const line = (row) => `${row.map((cell) => cell.replace(/[%&_#$^{}~]/g, "\\$&")).join(" & ")} \\\\`;
    const columns = "l".repeat(cells[0].length);
    return [`\\begin{tabular}{${columns}}`, line(cells[0]), "\\hline", ...cells.slice(1).map(line),
      "\\end{tabular}"].join("\n");
  },
};
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const numbers = button.closest("article").querySelector("table.numbers");
    const cells = [...numbers.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
    await navigator.clipboard.writeText(forms[button.dataset.copy](cells));
    button.textContent += " ✓";
  });
}
