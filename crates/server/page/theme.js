// Sets the colours before anything is painted: those of the system, unless the person chose. `?theme=dark` chooses too.
// A classic script on purpose: a module would run after the first paint.

(() => {
  const asked = new URLSearchParams(location.search).get("theme");
  try {
    if (asked === "system") localStorage.removeItem("theme");
    else if (asked === "light" || asked === "dark") localStorage.setItem("theme", asked);
    const kept = localStorage.getItem("theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    if (asked === "light" || asked === "dark") document.documentElement.dataset.theme = asked;
  }
})();
