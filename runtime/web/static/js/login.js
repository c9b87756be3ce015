// The page a one-time link opens. The code is in the fragment, which no browser
// sends; it is given for a cookie and taken out of the address at once.

import { apply } from "./settings.js";

apply();
const say = document.getElementById("say"), form = document.getElementById("form"), field = document.getElementById("token");

async function login(given) {
  say.textContent = "Logging in…";
  say.className = "";
  try {
    const answer = await fetch("/api/v1/session", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) });
    if (answer.ok) {
      try { localStorage.setItem("botd.known", "1"); } catch { /* then an ended session is not told as one */ }
      location.replace(after());
      return;
    }
    say.textContent = (await answer.json()).detail;
  } catch { say.textContent = "botd can not be reached. Is it running?"; }
  say.className = "bad";
  field.focus();
}

// after is where one was before, which is a path of this site and nothing else.
function after() {
  let path = "/";
  try { path = sessionStorage.getItem("botd.after") || "/"; sessionStorage.removeItem("botd.after"); } catch { /* the overview will do */ }
  return /^\/(?![/\\])/.test(path) ? path : "/";
}

// Who comes from a page, and was logged in here before, lost the session.
const before = (() => { try { return localStorage.getItem("botd.known") && sessionStorage.getItem("botd.after"); } catch { return null; } })();
if (before) say.textContent = `The session has ended, by its time or because botd was started anew. After this you are back at ${before.split("?")[0]}.`;

const code = location.hash.slice(1);
if (code) { history.replaceState(null, "", "/login"); login({ code }); }
form.addEventListener("submit", (event) => { event.preventDefault(); login({ token: field.value.trim() }); });
