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
  const shown = filter(table, words, (row) => [...parameters].every(([key, value]) => row.dataset[key].split(" ").includes(value)));
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

