import { get, remove } from "../api.js";
import { notice, segments } from "../chart.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { live } from "../state.js";
import { change, settings } from "../settings.js";
import { narrow } from "../list.js";
import { button, choose, empty, facts, field, panel, table, tag } from "../components.js";
import { maintenance, readTokens, tokens } from "../maintenance.js";
import { yaml } from "../yaml.js";

export const title = () => "Settings";

export async function open(page) {
  let config = null, version = null, named = [], text = page.query.get("q") ?? "", every = page.query.get("show") === "all";
  const read = page.reader(async () => { [config, version, named] = await Promise.all([get("config"), get("version"), readTokens()]); });
  page.on("status", () => page.draw());
  page.view(() => [
    h("div.page-head", h("h1", "Settings"), h("p.note", "Settings of this browser, and of the connected botd.")),
    panel("This browser", { key: "browser", note: "stored in this browser only" }, h("div.filters",
      choose("Theme", [["system", "as the system"], ["dark", "dark"], ["light", "light"]], settings.theme, (value) => change("theme", value)),
        choose("Times", [["utc", "UTC"], ["local", "local time"]], settings.zone, (value) => change("zone", value)),
      choose("Up and down", [["green-red", "green and red"], ["blue-orange", "blue and orange"]], settings.hues, (value) => change("hues", value)),
        choose("Single-key shortcuts", [["on", "on"], ["off", "off"]], settings.keys ? "on" : "off", (value) => change("keys", value === "on")))),
    version ? about(version) : null, version ? tokens(named, () => read.now()) : null, maintenance(), checks(), config ? configuration(config) : null,
    panel("Licenses", { key: "licenses" }, h("p.panel-body", "botd is under the MIT license. ", notice(), ", Apache License 2.0: ",
        h("a", { href: new URL("../../vendor/LICENSE-lightweight-charts", import.meta.url).pathname, target: "_blank" }, "its text"), ".")),
  ]);
  await read.now();

  function configuration(c) {
    const fits = c.settings.filter((one) => !text || `${one.key} ${one.value} ${one.origin}`.toLowerCase().includes(text.toLowerCase())),
      set = fits.filter((one) => one.origin !== "default"), shown = every ? fits : set;
    const choice = (value, name) => [value, name];
    return panel("Configuration in force", { key: "config", note: ["read from ", c.directory, ", hash ", h("span.mono", { title: c.hash },
            c.hash.slice(0, 12))], actions: c.settings.length ? segments("Which settings",
          [choice("set", `Set, ${set.length}`), choice("all", `All, ${fits.length}`)], every ? "all" : "set", (value) => { every = value === "all";
            page.choose("show", every ? "all" : ""); page.draw(); }) : null },
      c.settings.length ? [h("div.filters", h("div.grow", field("Search", h("input", { type: "search", value: text, "data-search": true,
                  placeholder: "max_daily_loss, trend, botd.yaml…", on: { input: (event) => { text = event.target.value; page.choose("q", text);
                      page.draw(); } } })))),
        shown.length ? h("div.sections", sections(shown, c.directory, !!text || !narrow.matches)) : every || !fits.length ? empty("No setting matches",
          "Change the search above.") : empty("All values are defaults", "Every setting that matches has its default.",
          button("Show the defaults", () => { every = true; page.draw(); }))] : null,
      h("details.mirror", { open: !c.settings.length }, h("summary", "As one YAML, with every default; secrets are never in it"), yaml(c.yaml)),
        h("p.panel-body.note", f.plural(c.files.length, "file"), ": ", c.files.map((file) => short(file, c.directory)).join(", ")));
  }
}

const short = (origin, directory) => (origin.startsWith(directory + "/") ? origin.slice(directory.length + 1) : origin);

// sections are the settings of botd itself, of each block, and of each strategy; on a phone they are initially closed.
function sections(shown, directory, open) {
  const all = new Map(), of = (key) => { const [first, second, ...rest] = key.split("."); return first === "strategies" && rest.length
    ? [`strategy ${second}`, rest.join(".")] : second ? [first, key.slice(first.length + 1)] : ["botd", key]; };
  for (const one of shown) { const [name, key] = of(one.key); all.set(name, [...(all.get(name) ?? []), { ...one, short: key }]); }
  const rank = (name) => ["botd", "risk"].indexOf(name) + 1 || (name.startsWith("strategy ") ? 9 : 5);
  return [...all].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b)).map(([name, rows]) => {
    const set = rows.filter((one) => one.origin !== "default"), files = [...new Set(set.map((one) => /^(.*):\d+$/.exec(one.origin)?.[1] ?? ""))],
      file = files.length === 1 && files[0];
    const from = (one) => (file && one.origin.startsWith(file + ":") ? "line " + one.origin.slice(file.length + 1) : short(one.origin, directory));
    return h("details", { key: `${name} ${open}`, open }, h("summary", h("strong", name === "botd" ? name : f.title(name)),
        h("span.note", ` ${set.length} set`, rows.length > set.length ? `, ${rows.length - set.length} by default` : "",
          file ? `, in ${short(file, directory)}` : "")),
      table(`Settings of ${name}`, [{ name: "Setting", cell: (s) => h("span.mono", { title: s.key }, s.short) },
          { name: "Value", class: "value", cell: (s) => h("span.mono", { class: s.origin === "default" ? "soft" : "" }, s.value) },
          { name: "From", class: "from", cell: (s) => h("span.note", { title: s.origin }, from(s)) }], rows, { key: (s) => s.key }));
  });
}

function about(v) {
  return panel("This botd", { key: "about", actions: button("Log out", async () => { await remove("session").catch(() => {});
          location.replace("/login"); }) }, facts([["Version", v.version], ["Revision", v.revision ? h("span.mono", v.revision.slice(0, 12)) : "–"],
        ["Go", v.go], ["Mode", v.mode], ["Instance", v.instance], ["Start", h("span.mono", v.epoch)],
        ["Running for", f.uptime((Date.now() + live.offset - Date.parse(live.status.started)) / 1000)],
        ["Logged in as", `${live.session.role}, by ${live.session.credential}`]]));
}

function checks() {
  return panel("Checks", { key: "checks", note: live.status.ready ? "ready" : "not ready" }, table("Checks", [{ name: "Check", cell: (c) => f.words(c.name) },
        { name: "Result", cell: (c) => tag(c.ok ? "ok" : "failed") },
        { name: "Detail", class: "text", cell: (c) => c.detail || "–" }], live.status.checks, { key: (c) => c.name }));
}
