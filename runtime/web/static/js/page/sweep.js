import { get, part, post } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { now, operator } from "../state.js";
import { say } from "../dialogs.js";
import { button, empty, facts, link, panel, tag, time } from "../components.js";
import { settings, states } from "./sweeps.js";

export const title = (params) => params.name;

export async function open(page) {
  const name = page.params.name;
  let sweep = null, runs = [], shown = "", there = "";
  // The sweep's page is a separate document without an origin: it can request a trial's report from this one, and nothing else.
  const frame = h("iframe", { title: `Verdict, heat maps and trials of ${name}`, sandbox: "allow-scripts" });
  frame.addEventListener("load", () => { frame.dataset.shown = shown; });
  const reply = (event) => {
    const job = event.data?.trial;
    if (event.source === frame.contentWindow && typeof job === "string" && /^[0-9a-f]{64}$/.test(job)) report(job);
  };
  addEventListener("message", reply);
  page.onLeave(() => removeEventListener("message", reply));
  const read = page.reader(async () => {
    const [list, here] = await Promise.all([get("sweeps"), get("sweeps/runs")]);
    sweep = list.items.find((one) => one.name === name) ?? null;
    runs = here.items.filter((one) => one.sweep === name);
    const version = sweep?.page ? `${sweep.state} ${sweep.trials}` : "";
    if (version && version !== shown) { shown = version; frame.src = `/api/v1/sweeps/${part(name)}/report`; }
  });
  const busy = () => sweep?.state === "running" || runs[0]?.state === "running";
  page.every(1500, () => { if (busy()) read(); });
  page.every(15_000, read);
  page.view(() => sweep ? [head(), progress(), ended(), body()] : [h("div.page-head", h("h1", name)),
    panel("There is no such sweep", {}, empty(`No sweep ${name} is stored`, "It may have been removed from data_dir/sweeps.",
      link("/sweeps", "All sweeps")))]);
  await read.now();

  function head() {
    const verdict = sweep.verdict ? sweep.verdict[0].toUpperCase() + sweep.verdict.slice(1) + "." : `${sweep.search} search by ${sweep.sort}`;
    return h("div.page-head", h("h1", name), h("p.note", verdict),
      h("div.actions", link("/sweeps", "All sweeps"), operator() && sweep.state === "running" ? button("Cancel", () => act("cancel", "Canceled"),
          { "aria-label": `Cancel the sweep ${name}` }) : null,
        operator() && sweep.state === "interrupted" ? button("Resume", () => act("resume", "Resumed"), { tone: "primary", id: "sweep-resume" }) : null));
  }

  function progress() {
    const running = sweep.state === "running", share = sweep.total ? sweep.done / sweep.total : 0;
    return panel("Search", { key: "search" }, facts([
      ["State", tag(states[sweep.state], sweep.state)], ["Started", time(sweep.at, now())], ["Strategy", sweep.strategy || "–"],
      ["Candles", sweep.symbol ? `${f.exact(String(sweep.candles))} of ${sweep.symbol}, ${sweep.interval}` : "–"],
      ["Varied", sweep.vary.join(", ") || "–"], ["Best", settings(sweep.best) || "–"], sweep.refused ? ["Refused", f.exact(String(sweep.refused))] : null]),
      running ? h("div.panel-body", h("div.meter", { role: "progressbar", "aria-label": `Progress of ${name}`, "aria-valuemin": "0", "aria-valuemax": "100",
        "aria-valuenow": String(Math.round(share * 100)), "aria-valuetext": `${sweep.done} of ${sweep.total}` }, h("span.meter-fill", { share })),
      h("p.note", sweep.total ? `${sweep.done} of ${sweep.total} trials` : "Reading candles…")) : null);
  }

  // ended shows the newest process of the sweep if it failed or wrote a report.
  function ended() {
    const last = runs[0];
    if (there) return panel("Report of a trial", { key: "report" }, h("p.panel-body", shownReport(there)));
    if (!last || last.state === "running" && last.kind !== "report") return null;
    if (last.kind !== "report") return last.state === "done" ? null : panel("The sweep ended early", { key: "ended" }, h("p.panel-body", last.error));
    return panel("Report of a trial", { key: "report" }, h("p.panel-body", { "aria-live": "polite" }, last.state === "running" ? "Running the trial again…"
      : last.state === "done" ? shownReport(last.report) : `The trial failed: ${last.error}`));
  }

  function body() {
    if (!sweep.page) return panel("Trials", { key: "trials" }, empty("There is no page yet", sweep.state === "running"
      ? "Created when the sweep ends." : "Created when the sweep is resumed, or by botd sweep report on the command line."));
    return panel("Verdict and trials", { key: "page", note: operator() ? "click a rank to generate the report of its trial" : null,
      actions: h("a", { href: `/api/v1/sweeps/${part(name)}/report`, target: "_blank", rel: "noopener" }, "Open in a new window") },
      h("div.document", { keep: frame }));
  }

  async function report(job) {
    if (!operator()) { say("Only an operator can create trial reports.", "bad"); return; }
    try {
      const answer = await post(`sweeps/${part(name)}/trials/${job}/report`);
      there = answer.run ? "" : answer.id;
      say(answer.run ? "Running the trial again, for its report." : "The report is ready.");
    } catch (error) { say(error.message, "bad"); }
    read.now();
  }

  async function act(what, words) {
    try { await post(`sweeps/${part(name)}/${what}`); say(`${words}: ${name}.`); } catch (error) { say(error.message, "bad"); }
    read.now();
  }
}

const reportLink = (id) => h("a", { href: `/api/v1/backtests/${part(id)}/report`, target: "_blank", rel: "noopener" }, id);
const shownReport = (id) => ["The report is ready: ", reportLink(id)];
