// The emergency control: one press opens it, a second one flattens. It describes the effect in one line; the
// steps are shown on demand, so that many orders do not move the button.

import { post } from "./api.js";
import { h } from "./dom.js";
import { engaged, presets as reasons, summary } from "./halt.js";
import { live, operator, refresh } from "./state.js";
import { dialog, say } from "./dialogs.js";
import { button, choose } from "./components.js";

const HOLD_MS = 1000, // in live trading the button is held
  AGAIN_MS = 3000;

export function emergency() {
  if (document.querySelector("dialog.emergency")) return;
  let reason = reasons[0],
    busy = false,
    newest = 0;
  const what = h("p.what", { id: "emergency-what", "aria-live": "polite" }, "Asking the engine what this closes and cancels…"),
    blind = h("div"),
    steps = h("ol", { id: "emergency-steps" });

  async function read() {
    const mine = ++newest;
    try {
      const answer = await post("risk/halt", { level: "flatten", dry_run: true });
      if (mine !== newest) return; // this answer is older than the one shown
      what.textContent = `Flatten ${summary(answer)}. Nothing opens until you rearm.`;
      steps.replaceChildren(...answer.steps.map((step) => h("li", `${step.strategy}: ${step.text}`)));
      blind.replaceChildren(...answer.blind.map((line) => h("p.bad", "Cannot see or close yet: ", line)));
    } catch (error) {
      if (mine === newest) what.textContent = `The engine did not answer (${error.message}). The buttons still work.`;
    }
  }

  async function act(level) {
    if (busy || !operator()) return;
    busy = true;
    for (const one of buttons) one.disabled = true;
    try {
      const answer = await post("risk/halt", { level, reason });
      box.close();
      engaged(answer);
      await refresh();
    } catch (error) {
      say(error.message, "bad");
    }
    busy = false;
    for (const one of buttons) one.disabled = false;
  }

  const isLive = live.status.mode === "live",
    name = isLive ? `Hold 1 s to flatten ${live.status.instance}` : "Flatten now";
  const go = button(name, isLive ? null : () => act("flatten"), { icon: "halt", tone: "final", disabled: !operator(), id: "emergency-go" });
  if (isLive) holds(go, () => act("flatten"));
  const rest = [button("Cancel orders", () => act("cancel"), { title: "Also pauses entries. Stops and positions stay." }),
    button("Pause entries", () => act("pause"), { title: "Nothing opens. Exits and stops continue." })];
  for (const one of rest) one.disabled = !operator();
  const buttons = [go, ...rest];
  const box = dialog(
    live.status.halted ? `Halted: ${live.status.halted}` : "Emergency",
    [
      what,
      blind,
      h("details.mirror", h("summary", "Each step"), h("div.steps", { tabindex: "0", role: "group", "aria-label": "Each step" }, steps)),
      choose("Reason, for the journal", reasons, reason, (value) => (reason = value), { id: "emergency-reason" }),
      h("div.acts", go, rest),
      h("p.note", operator() ? [live.status.halted ? "To rearm, or to " : "To ", "halt a part, or give a reason of your own: ",
          h("a", { href: "/risk", on: { click: () => box.close() } }, "Risk")] : "You are logged in as a viewer: only an operator can halt."),
    ],
    { wide: false },
  );
  box.classList.add("emergency");
  const timer = setInterval(read, AGAIN_MS);
  box.addEventListener("close", () => { newest++; clearInterval(timer); });
  go.focus();
  read();
}

// holds acts after a button was held down, by pointer or key.
function holds(node, act) {
  let timer = 0;
  const begin = (event) => {
    if (event.type === "keydown" && !["Enter", " "].includes(event.key)) return;
    event.preventDefault();
    if (timer || node.disabled) return;
    node.classList.add("held");
    timer = setTimeout(() => { end(); act(); }, HOLD_MS);
  };
  const end = () => {
    clearTimeout(timer);
    timer = 0;
    node.classList.remove("held");
  };
  for (const name of ["pointerdown", "keydown"]) node.addEventListener(name, begin);
  for (const name of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"]) node.addEventListener(name, end);
}
