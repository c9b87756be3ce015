// The page that a one-time link opens. The code is in the fragment, which no browser sends; the page exchanges
// it for a cookie and removes it from the address at once.

import { apply } from "./settings.js";

apply();
const say = document.getElementById("say"),
  form = document.getElementById("form"),
  field = document.getElementById("token");

async function login(given) {
  say.textContent = "Logging in…";
  say.className = "";
  try {
    const answer = await fetch("/api/v1/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(given),
    });
    if (answer.ok) {
      try {
        localStorage.setItem("botd.known", "1");
      } catch {
        /* then an expired session is not reported */
      }
      location.replace(after());
      return;
    }
    say.textContent = (await answer.json()).detail;
  } catch {
    say.textContent = "botd cannot be reached. Is it running?";
  }
  say.className = "bad";
  field.focus();
}

// after returns the page before the login, if it is a path of this site.
function after() {
  let path = "/";
  try {
    path = sessionStorage.getItem("botd.after") || "/";
    sessionStorage.removeItem("botd.after");
  } catch {
    /* the overview will do */
  }
  return /^\/(?![/\\])/.test(path) ? path : "/";
}

// A visitor who comes from a page and was logged in before has lost the session.
const before = (() => {
  try {
    return localStorage.getItem("botd.known") && sessionStorage.getItem("botd.after");
  } catch {
    return null;
  }
})();
if (before) say.textContent = `The session has expired, or botd was restarted. After the login you return to ${before.split("?")[0]}.`;

const code = location.hash.slice(1);
if (code) {
  history.replaceState(null, "", "/login");
  login({ code });
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  login({ token: field.value.trim() });
});
