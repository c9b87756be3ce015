// Navigation to pages, strategies and symbols by name, and to an order by its id.

import { h } from "./dom.js";
import * as f from "./format.js";
import { icon } from "./icons.js";
import { live } from "./state.js";
import { dialog } from "./dialogs.js";
import { places } from "./pages.js";
import { navigate } from "./router.js";

const SHOWN = 9;

function everything() {
  const symbols = [...new Map(live.strategies.map((one) => [`${one.market} ${one.symbol}`, one])).values()];
  return [
    ...places.map((one) => ({ name: one.text, note: one.answers, path: one.path, icon: one.name })),
    { name: "Kill switch", note: "halt a part, or all", path: "/risk", icon: "halt" },
    ...live.strategies.map((one) => ({
      name: one.name,
      note: `${f.words(one.state)}, ${one.kind} on ${one.symbol} ${one.market}`,
      path: "/strategies/" + encodeURIComponent(one.name),
      icon: "strategies",
    })),
    ...symbols.map((one) => ({
      name: `${one.symbol} ${one.market}`,
      note: "candles, book, trades",
      path: `/market/${one.market}/${encodeURIComponent(one.symbol)}`,
      icon: "market",
    })),
  ];
}

// fitting returns the entries whose name or note contains all words, beginning with those whose name starts with
// them; text that looks like an order id is an entry.
function fitting(all, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean),
    rank = (one) => (one.name.toLowerCase().startsWith(words[0]) ? 0 : one.name.toLowerCase().includes(words[0]) ? 1 : 2);
  const found = words.length
    ? all.filter((one) => words.every((word) => `${one.name} ${one.note}`.toLowerCase().includes(word))).sort((a, b) => rank(a) - rank(b))
    : all;
  const id = text.trim();
  return [
    ...(/^b[\w-]+-\d+$/.test(id) || /^#?\d+$/.test(id)
      ? [{ name: `Intent ${id}`, note: "its life cycle", path: "/intents/" + encodeURIComponent(id.replace("#", "")), icon: "intents" }]
      : []),
    ...found,
  ].slice(0, SHOWN);
}

export function find() {
  const all = everything(),
    list = h("ul.sheet", { id: "find-list" }),
    field = h("input", {
      type: "search",
      id: "find",
      "aria-label": "Search",
      "aria-controls": "find-list",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "page, strategy, symbol, or order id",
    });
  const box = dialog("Go to", [field, list, h("p.note", h("kbd", "Enter"), " goes to the first, ", h("kbd", "Tab"), " to the others.")]);
  const go = (path) => {
    box.close();
    navigate(path);
  };
  const draw = () => {
    const found = fitting(all, field.value);
    list.replaceChildren(
      ...(found.length
        ? found.map((one, i) =>
            h(
              "li",
              h(
                "a",
                {
                  href: one.path,
                  class: i ? "" : "first",
                  on: {
                    click: (event) => {
                      event.preventDefault();
                      go(one.path);
                    },
                  },
                },
                icon(one.icon, 18),
                h("span", h("strong", one.name), h("span.note", one.note)),
              ),
            ),
          )
        : [h("li.note", "No match.")]),
    );
  };
  field.addEventListener("input", draw);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      list.querySelector("a")?.click();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      list.querySelector("a")?.focus();
    }
  });
  list.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")],
      at = links.indexOf(document.activeElement),
      step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      (links[at + step] ?? (step < 0 ? field : links.at(-1))).focus();
    }
  });
  draw();
  field.focus();
}
