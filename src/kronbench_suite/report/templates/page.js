"use strict";
{% include "table.js" %}

// On paper nothing unfolds.
window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".how")) part.open = true;
});

// A table in the text forms that papers and issues take, or a line of code as it stands.
function copied(button) {
  if (button.dataset.copy === "code") {
    return button.parentElement.querySelector("code").textContent.replace(/\s+/g, " ");
  }
  const held = button.parentElement.querySelector("a[download$='.md']").href.split(",")[1];
  return new TextDecoder().decode(Uint8Array.from(atob(held), (sign) => sign.charCodeAt(0)));
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
