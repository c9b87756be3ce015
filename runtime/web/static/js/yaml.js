// YAML with highlighted keys, line by line.

import { h } from "./dom.js";

export function yaml(text) {
  return h(
    "pre.yaml",
    { tabindex: "0", "aria-label": "Configuration as YAML", role: "group" },
    text
      .trimEnd()
      .split("\n")
      .map((line) => {
        const match = /^(\s*(?:- )?)([\w.]+)(:.*)$/.exec(line);
        return match ? [match[1], h("span.key", match[2]), match[3], "\n"] : [line, "\n"];
      }),
  );
}
