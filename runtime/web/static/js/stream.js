// The worker that all tabs share: it has this browser's only event stream, because a browser opens at most six connections to a server.

const TOPICS = [
  "status",
  "account",
  "strategy",
  "decision",
  "intent",
  "order",
  "fill",
  "trade",
  "position",
  "risk",
  "reconcile",
  "candle",
  "notice",
  "audit",
  "backtest",
];
const SILENT_MS = 65_000; // a tab that is silent for longer is closed

const tabs = new Map(); // port -> {logs, heard}
let source = null,
  logs = false,
  last = "",
  state = "connecting",
  since = Date.now(),
  retry = 0;

const broadcast = (message) => {
  for (const port of tabs.keys()) port.postMessage(message);
};

function become(next) {
  if (state === next) return;
  state = next;
  since = Date.now();
  broadcast({ kind: "state", state, since });
}

function open() {
  source?.close();
  clearTimeout(retry);
  const topics = [...TOPICS, ...(logs ? ["log"] : [])];
  source = new EventSource("/api/v1/events?topics=" + topics + (last ? "&since=" + encodeURIComponent(last) : ""));
  const own = source;
  own.onopen = () => become("open");
  own.onerror = () => {
    if (own === source) failed(own);
  };
  own.addEventListener("hello", (event) => broadcast({ kind: "hello", data: JSON.parse(event.data) }));
  own.addEventListener("gap", (event) => {
    last = event.lastEventId || last;
    broadcast({ kind: "gap", data: JSON.parse(event.data) });
  });
  for (const topic of topics) {
    own.addEventListener(topic, (event) => {
      last = event.lastEventId || last;
      broadcast({ kind: "event", id: last, topic, data: JSON.parse(event.data) });
    });
  }
}

// failed determines whether botd is down or the session has expired. The browser itself retries unless the response was not a stream.
async function failed(own) {
  become("lost");
  if (own.readyState !== EventSource.CLOSED) return;
  try {
    const answer = await fetch("/api/v1/session");
    if (answer.status === 401) {
      become("out");
      return;
    }
  } catch {
    /* away: try again */
  }
  clearTimeout(retry);
  retry = setTimeout(() => {
    if (own === source && tabs.size) open();
  }, 2000);
}

function tidy() {
  const now = Date.now();
  for (const [port, tab] of tabs) if (now - tab.heard > SILENT_MS) tabs.delete(port);
  settle();
}

// settle opens, closes or reopens the stream as the tabs require.
function settle() {
  const want = [...tabs.values()].some((tab) => tab.logs);
  if (!tabs.size) {
    source?.close();
    source = null;
    state = "connecting";
    return;
  }
  if (!source || want !== logs) {
    logs = want;
    open();
  }
}

function join(port) {
  tabs.set(port, { logs: false, heard: Date.now() });
  port.onmessage = ({ data }) => {
    if (data.kind === "bye") {
      tabs.delete(port);
      settle();
      return;
    }
    const tab = tabs.get(port) ?? { logs: false };
    tabs.set(port, { logs: data.logs ?? tab.logs, heard: Date.now() });
    if (data.kind === "again") open();
    settle();
  };
  port.postMessage({ kind: "state", state, since });
  settle();
}

if ("onconnect" in self) {
  self.onconnect = (event) => join(event.ports[0]);
  setInterval(tidy, 20_000);
}

export { join };
