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

{% include "table.js" %}

// On paper nothing unfolds.
window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".how")) part.open = true;
});

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
