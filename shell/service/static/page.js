"use strict";
// Everything on the pages works without this.
(() => {
  const box = document.getElementById("q");
  const said = document.getElementById("said");
  const stops = [...document.querySelectorAll(".hit h2 a")];
  const typing = (element) => element.matches("input, select, textarea, [contenteditable]");

  const follow = (relation) => document.querySelector(`main a[rel="${relation}"]`)?.click();

  const move = (step) => {
    if (!stops.length) {
      follow(step > 0 ? "next" : "prev");
      return;
    }
    const at = stops.indexOf(document.activeElement.closest(".hit")?.querySelector("h2 a"));
    const stop = stops[Math.min(Math.max(at + step, 0), stops.length - 1)];
    stop.focus({ preventScroll: true });
    stop.closest(".hit").scrollIntoView({ block: "nearest" });
  };

  const keys = {
    "/": () => { box?.focus(); box?.select(); },
    j: () => move(1),
    k: () => move(-1),
    Escape: () => follow("up"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (typing(event.target)) {
      if (event.key !== "Escape") return;
      event.preventDefault(); // a search box would be emptied
      event.target.blur();
    } else if (Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  // An address holds what was filled in, and nothing else.
  document.getElementById("search")?.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) {
      if (value.trim() === "" || (name === "mode" && value === "bm25")) formData.delete(name);
    }
  });

  // Browsers let pages from afar copy only over HTTPS.
  if (navigator.clipboard) {
    for (const button of document.querySelectorAll("button.copy")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(button.dataset.copy);
          said.textContent = `Copied ${button.dataset.copy}`;
        } catch {
          said.textContent = "The browser did not let the chunk id be copied";
        }
      });
    }
  }
  for (const hint of document.querySelectorAll(".keys")) hint.hidden = false;
})();
