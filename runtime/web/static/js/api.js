// Requests to the admin API.

// Problem is an answer that reports a failure.
export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

const PATIENCE_MS = 12_000;

async function request(method, path, body, headers = {}, patience = PATIENCE_MS) {
  let answer;
  try {
    answer = await fetch("/api/v1/" + path, {
      method,
      headers: { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(patience),
    });
  } catch (error) {
    throw new Problem(
      0,
      "unreachable",
      error.name === "TimeoutError" ? `botd did not answer within ${patience / 1000} s` : "botd cannot be reached",
    );
  }
  if (answer.status === 401) toLogin();
  if (answer.status === 204) return null;
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, content?.code ?? "unknown", content?.detail ?? `the answer was ${answer.status}`);
  return content;
}

// toLogin opens the login page, which returns to this page.
export function toLogin() {
  try {
    sessionStorage.setItem("botd.after", location.pathname + location.search);
  } catch {
    /* then it comes back to the overview */
  }
  location.replace("/login");
}

export const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return given.length ? "?" + new URLSearchParams(given) : "";
};
export const get = (path, values = {}) => request("GET", path + query(values));
export const part = (text) => encodeURIComponent(text);

// change requests a change, which is made once even if the request is sent again.
export const post = (path, body, patience) => request("POST", path, body, { "Idempotency-Key": unique() }, patience);
export const put = (path, body) => request("PUT", path, body, { "Idempotency-Key": unique() });
export const remove = (path) => request("DELETE", path);

function unique() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
