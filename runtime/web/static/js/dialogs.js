// Dialogs: the list of all pages on a phone, questions, and messages.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { places } from "./pages.js";

// dialog shows a modal box until it is closed.
export function dialog(title, content, { wide = false } = {}) {
  const box = h(
    "dialog.dialog",
    { class: wide ? "wide" : "", "aria-labelledby": "dialog-title" },
    h(
      "header.dialog-head",
      h("h2", { id: "dialog-title" }, title),
      h("button.button.quiet.square", { type: "button", "aria-label": "Close", on: { click: () => box.close() } }, icon("close")),
    ),
    h("div.dialog-body", content),
  );
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => {
    if (event.target === box) box.close();
  });
  document.body.append(box);
  box.showModal();
  return box;
}

export function more(here) {
  const box = dialog(
    "All pages",
    h(
      "ul.sheet",
      places.map((one) =>
        h(
          "li",
          h(
            "a",
            { href: one.path, "aria-current": one.pages.includes(here) ? "page" : null, on: { click: () => box.close() } },
            icon(one.name, 20),
            h("span", h("strong", one.text), h("span.note", one.answers)),
          ),
        ),
      ),
      h("li", h("a", { href: "/docs/" }, icon("document", 20), h("span", h("strong", "Documents"), h("span.note", "How do I use it?")))),
    ),
  );
}

// say shows the result of an action, to screen readers too.
export function say(text, tone = "good") {
  const host = document.getElementById("toasts");
  const toast = h("div.toast", { class: tone }, icon(tone === "good" ? "check" : "warning"), h("span", text));
  host.append(toast);
  setTimeout(() => toast.remove(), tone === "good" ? 6000 : 12_000);
}
