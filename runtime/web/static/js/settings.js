// Preferences, stored in this browser only.

const KEY = "botd.settings";
const defaults = { theme: "system", zone: "utc", hues: "green-red", keys: true };

function read() {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...defaults };
  }
}

export const settings = read();
const watchers = new Set();

export function change(name, value) {
  settings[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    /* a browser that keeps nothing still shows everything */
  }
  apply();
}

export function watch(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

const system = matchMedia("(prefers-color-scheme: light)");
export const theme = () => (settings.theme === "system" ? (system.matches ? "light" : "dark") : settings.theme);

export function apply() {
  document.documentElement.dataset.theme = theme();
  document.documentElement.dataset.hues = settings.hues;
  for (const watcher of [...watchers]) watcher();
}

system.addEventListener("change", apply);
addEventListener("storage", (event) => {
  if (event.key === KEY) {
    Object.assign(settings, read());
    apply();
  }
});
