"use strict";
(() => {
  const root = document.documentElement,
    dark = matchMedia("(prefers-color-scheme: dark)"),
    show = () => (root.dataset.theme = dark.matches ? "dark" : "light"),
    hue = document.getElementById("hue");
  show();
  dark.addEventListener("change", show);
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  });
  hue.addEventListener("click", () => {
    if (root.dataset.hue) delete root.dataset.hue;
    else root.dataset.hue = "other";
    hue.setAttribute("aria-pressed", String(root.dataset.hue === "other"));
  });
  addEventListener("beforeprint", () => (root.dataset.theme = "light"));
  addEventListener("afterprint", show);
  // Inside the dashboard a trial's report is asked for there: this page reaches nothing.
  if (parent !== window)
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-job]");
      if (!link) return;
      event.preventDefault();
      parent.postMessage({ trial: link.dataset.job }, "*");
    });
  document.body.dataset.ready = "yes";
})();
