// Runs before the first paint, so that a chosen theme does not flash in the other one.
(function () {
  let chosen = null;
  try {
    chosen = localStorage.getItem("windvane-theme");
  } catch {
    // storage may be forbidden; then the system decides
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
