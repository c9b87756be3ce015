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
  document.body.dataset.ready = "yes";
})();
