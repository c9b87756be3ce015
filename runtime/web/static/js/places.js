// All pages, in the order of the navigation.

export const places = [
  { name: "overview", path: "/", text: "Overview", key: "o", group: "Trading", pages: ["overview"], answers: "Is everything normal, and what is the result?" },
  { name: "strategies", path: "/strategies", text: "Strategies", key: "s", group: "Trading", pages: ["strategies", "strategy"],
    answers: "What is each target, and why?" },
  { name: "positions", path: "/positions", text: "Positions", key: "p", group: "Trading", pages: ["positions"], answers: "What is open, and is it protected?" },
  { name: "orders", path: "/orders", text: "Orders", key: "r", group: "Trading", pages: ["orders"], answers: "What is working, what was filled?" },
  { name: "intents", path: "/intents", text: "Intents", key: "i", group: "Trading", pages: ["intents", "intent"],
    answers: "What was the outcome of each derived change?" },
  { name: "risk", path: "/risk", text: "Risk", key: "k", group: "Safety", pages: ["risk"],
    answers: "How much of each limit is used? How is everything halted?" },
  { name: "reconcile", path: "/reconcile", text: "Reconcile", key: "c", group: "Safety", pages: ["reconcile"], answers: "Do exchange and journal agree?" },
  { name: "market", path: "/market", text: "Market", key: "m", group: "Research", pages: ["market", "symbol"], answers: "What does the exchange list?" },
  { name: "backtests", path: "/backtests", text: "Backtests", key: "b", group: "Research", pages: ["backtests", "compare"],
    answers: "What would the result have been?" },
  { name: "logs", path: "/logs", text: "Logs", key: "l", group: "System", pages: ["logs"], answers: "What does botd log?" },
  { name: "audit", path: "/audit", text: "Audit", key: "a", group: "System", pages: ["audit"], answers: "Who changed what?" },
  { name: "settings", path: "/settings", text: "Settings", key: "e", group: "System", pages: ["settings"], answers: "What is configured, and where?" },
];
