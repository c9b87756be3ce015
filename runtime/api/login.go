package api

import "net/http"

// loginHTML is the page that a one-time link opens. The code is in the fragment, which no
// browser sends; the script exchanges it for a cookie.
const loginHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>botd: log in</title><script src="/login.js" defer></script></head>
<body><main><h1>botd</h1>
<p id="say" role="status">Paste the token of <code>data_dir/MODE/token</code>, or open the link that <code>botd login</code> prints.</p>
<form id="form"><input type="text" name="username" value="botd" autocomplete="username" hidden>
<label>Token <input id="token" type="password" autocomplete="current-password" required></label> <button>Log in</button></form>
</main></body></html>
`

const loginJS = `"use strict";
const say = document.getElementById("say"), form = document.getElementById("form"), field = document.getElementById("token");
async function login(given) {
  const answer = await fetch("/api/v1/session", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(given)});
  if (answer.ok) { location.replace("/"); return; }
  say.textContent = (await answer.json()).detail;
}
const code = location.hash.slice(1);
if (code) { history.replaceState(null, "", "/login"); login({code: code}); }
form.addEventListener("submit", (event) => { event.preventDefault(); login({token: field.value.trim()}); });
`

const landingHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>botd</title></head>
<body><main><h1>botd</h1>
<p>This botd was built without its dashboard. The API is described by <a href="/api/v1/openapi.json">openapi.json</a>;
<a href="/metrics">metrics</a>, <a href="/healthz">health</a> and <a href="/readyz?verbose">readiness</a> need no login.</p>
<p><a href="/login">Log in</a></p>
</main></body></html>
`

func loginPage(w http.ResponseWriter, _ *http.Request) {
	page(w, "text/html; charset=utf-8", loginHTML)
}

func loginScript(w http.ResponseWriter, _ *http.Request) {
	page(w, "text/javascript; charset=utf-8", loginJS)
}

func landing(w http.ResponseWriter, _ *http.Request) {
	page(w, "text/html; charset=utf-8", landingHTML)
}
