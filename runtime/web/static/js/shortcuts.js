// Keyboard shortcuts. Users of keyboards and assistive software that press single keys can turn them off.

import { h } from "./dom.js";
import { dialog } from "./dialogs.js";
import { places } from "./pages.js";
import { navigate } from "./router.js";
import { settings } from "./settings.js";

const FOLLOWS_MS = 1500; // between g and the page's key
let first = 0;

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]");

export function listenKeys({ toggle }) {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "k" && !document.querySelector("dialog[open]")) {
      // not a single key: always on
      event.preventDefault();
      goTo();
      return;
    }
    if (!settings.keys || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    const after = Date.now() - first < FOLLOWS_MS;
    first = 0;
    const place = after && places.find((one) => one.key === event.key);
    if (place) navigate(place.path);
    else if (event.key === "g") {
      first = Date.now();
      return;
    } else if (event.key === "?") help();
    else if (event.key === "t") toggle();
    else if (event.key === "!") emergency();
    else if (event.key === "/")
      search(); // focus on key up, so that the key is not typed
    else return;
    event.preventDefault();
  });
}

// goTo opens the search, which loads at its first use.
export const goTo = () => import("./search.js").then(({ find }) => find());

// emergency opens the emergency control, or the page with the kill switch if the control cannot be loaded.
export const emergency = () => import("./emergency_control.js").then((one) => one.emergency(), () => navigate("/risk"));

function search() {
  const field = document.querySelector("[data-search]");
  if (!field) document.addEventListener("keyup", () => goTo(), { once: true });
  else document.addEventListener("keyup", () => field.focus(), { once: true });
}

export function help() {
  const row = (keys, text) =>
    h(
      "tr",
      h(
        "td",
        keys.map((key, i) => [i ? " " : "", h("kbd", key)]),
      ),
      h("td", text),
    );
  dialog("Keyboard", [
    h(
      "table.keys",
      h("caption.hidden", "Shortcuts"),
      h("thead.hidden", h("tr", h("th", { scope: "col" }, "Keys"), h("th", { scope: "col" }, "Action"))),
      h(
        "tbody",
        places.map((one) => row(["g", one.key], one.text)),
        row(["!"], "Emergency: Enter then flattens"),
        row(["/"], "Search or filter on the page, else go to"),
        row(["Ctrl", "k"], "Go to a page, a strategy, a symbol, an order"),
        row(["t"], "Light or dark"),
        row(["?"], "This list"),
        row(["Esc"], "Close, or leave a field"),
      ),
    ),
    h("p.note", "Single keys can be turned off under Settings."),
  ]);
}
