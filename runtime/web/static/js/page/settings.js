import { get, remove } from "../api.js";
import { notice } from "../chart.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { live } from "../live.js";
import { change, settings } from "../settings.js";
import { button, choose, empty, facts, field, panel, table, tag } from "../parts.js";
import { yaml } from "../yaml.js";

export const title = () => "Settings";

export async function open(page) {
  let config = null, version = null, text = "";
  const read = page.reader(async () => { [config, version] = await Promise.all([get("config"), get("version")]); });
  page.on("status", () => page.draw());
  page.view(() => [
    h("div.page-head", h("h1", "Settings"), h("p.note", "Of this browser, and of the botd it looks at.")),
    panel("This browser", { key: "browser", note: "kept here alone" }, h("div.filters",
      choose("Theme", [["system", "as the system"], ["dark", "dark"], ["light", "light"]], settings.theme, (value) => change("theme", value)), choose("Times", [["utc", "UTC"], ["local", "local time"]], settings.zone, (value) => change("zone", value)),
      choose("Up and down", [["green-red", "green and red"], ["blue-orange", "blue and orange"]], settings.hues, (value) => change("hues", value)), choose("Single-key shortcuts", [["on", "on"], ["off", "off"]], settings.keys ? "on" : "off", (value) => change("keys", value === "on")))),
    version ? about(version) : null, checks(), config ? configuration(config) : null,
    panel("Licences", { key: "licences" }, h("p.panel-body", "botd is under the MIT licence. ", notice(), ", Apache License 2.0: ", h("a", { href: new URL("../../vendor/LICENSE-lightweight-charts", import.meta.url).pathname, target: "_blank" }, "its text"), ".")),
  ]);
  await read.now();

  function configuration(c) {
    const shown = c.settings.filter((one) => !text || `${one.key} ${one.value} ${one.origin}`.toLowerCase().includes(text.toLowerCase()));
    return [
      panel("Configuration in force", { key: "config", note: ["read from ", c.directory, ", hash ", h("span.mono", c.hash.slice(0, 12))] },
        c.settings.length ? [h("div.filters", h("div.grow", field("Search", h("input", { type: "search", value: text, "data-search": true, placeholder: "risk, strategies.trend, default…", on: { input: (event) => { text = event.target.value; page.draw(); } } })))),
          table("Settings", [{ name: "Setting", cell: (s) => h("span.mono", s.key) }, { name: "Value", class: "text", cell: (s) => h("span.mono", s.value) }, { name: "From", class: "nowrap", cell: (s) => (s.origin === "default" ? h("span.note", "default") : s.origin) }], shown, { key: (s) => s.key, none: empty("No setting fits", "Change the search above.") })] : null,
        h("details.mirror", { open: !c.settings.length }, h("summary", "As one YAML, with every default; secrets are never in it"), yaml(c.yaml)), h("p.panel-body.note", f.plural(c.files.length, "file"), ": ", c.files.join(", "))),
    ];
  }
}

function about(v) {
  return panel("This botd", { key: "about", actions: button("Log out", async () => { await remove("session").catch(() => {}); location.replace("/login"); }) }, facts([["Version", v.version], ["Revision", v.revision ? h("span.mono", v.revision.slice(0, 12)) : "–"], ["Go", v.go], ["Mode", v.mode], ["Instance", v.instance], ["Start", h("span.mono", v.epoch)], ["Running for", f.uptime((Date.now() + live.offset - Date.parse(live.status.started)) / 1000)], ["You are", `${live.session.role}, by ${live.session.by}`]]));
}

function checks() {
  return panel("Checks", { key: "checks", note: live.status.ready ? "ready" : "not ready" }, table("Checks", [{ name: "Check", cell: (c) => f.words(c.name) }, { name: "Result", cell: (c) => tag(c.ok ? "ok" : "failed") }, { name: "Detail", class: "text", cell: (c) => c.detail || "–" }], live.status.checks, { key: (c) => c.name }));
}
