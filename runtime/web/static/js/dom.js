// Elements from plain calls. Text becomes text nodes and never markup, so that text from an exchange or a strategy is shown and not run.

const SVG = "http://www.w3.org/2000/svg";
const drawn = new Set(["svg", "path", "circle", "rect", "line", "polyline", "g", "title"]);

// h("td.num", {title: "exact", on: {click}}, "12.5") makes an element. With a key, morph follows it when its position among its siblings changes.
export function h(what, given, ...children) {
  const [name, ...classes] = what.split(".");
  const element = drawn.has(name) ? document.createElementNS(SVG, name) : document.createElement(name || "div");
  if (classes.length) element.setAttribute("class", classes.join(" "));
  if (given === null || typeof given !== "object" || given instanceof Node || Array.isArray(given)) children.unshift(given);
  else for (const [key, value] of Object.entries(given)) set(element, key, value);
  append(element, children);
  return element;
}

function set(element, key, value) {
  if (value === null || value === undefined || value === false) return;
  switch (key) {
    case "on":
      listen(element, value);
      break;
    case "key":
      element._key = String(value);
      break;
    case "class":
      element.setAttribute("class", [element.getAttribute("class"), value].filter(Boolean).join(" "));
      break;
    case "share":
      element._share = value;
      bar(element, value);
      break;
    case "tall":
      element._tall = value;
      element.style.height = `${value * 100}%`;
      break;
    case "keep":
      element._keep = value;
      element.dataset.keep = "";
      break;
    case "value":
      element.value = value;
      if (element.localName !== "select") element.setAttribute("value", value);
      else element._value = value;
      break;
    default:
      element.setAttribute(key, value === true ? "" : visible(String(value)));
  }
}

// visible escapes invisible characters, which could hide or reverse part of a text.
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu;
const visible = (text) => text.replace(unseen, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);

// The object model sets a width, because a strict style policy allows nothing else.
function bar(element, share) {
  element.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
}

function listen(element, handlers) {
  element._on ??= {};
  for (const [type, handler] of Object.entries(handlers)) {
    if (!(type in element._on)) element.addEventListener(type, (event) => element._on[type]?.(event));
    element._on[type] = handler;
  }
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
  if (element._value !== undefined) element.value = element._value;
}

// mount inserts an element that draws itself, such as a chart.
export function mount(root) {
  for (const element of root.querySelectorAll("[data-keep]")) if (element._keep.parentNode !== element) element.prepend(element._keep);
}

// morph makes one tree equal to another and preserves unchanged parts: focus, selection, scroll positions, open details, and elements that draw themselves.
export function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || from._key !== to._key) {
    from.replaceWith(to);
    return to;
  }
  if (from.nodeType === Node.TEXT_NODE) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return from;
  }
  if (from._keep) {
    from._keep = to._keep ?? from._keep;
    return from;
  }
  attributes(from, to);
  if (to._on || from._on) {
    for (const type of Object.keys(from._on ?? {})) if (!to._on?.[type]) from._on[type] = undefined;
    listen(from, to._on ?? {});
  }
  children(from, to);
  return from;
}

const owned = new Set(["open"]); // changed by the reader, not by the page

function attributes(from, to) {
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && !owned.has(name) && name !== "style") from.removeAttribute(name);
  for (const { name, value } of to.attributes)
    if (name !== "style" && from.getAttribute(name) !== value && !(owned.has(name) && from.localName === "details"))
      from.setAttribute(name, value);
  if (to._share !== undefined && to._share !== from._share) {
    from._share = to._share;
    bar(from, to._share);
  }
  if (to._tall !== undefined) from.style.height = to.style.height;
  if (from.localName === "input" && from !== document.activeElement) {
    if (from.type === "checkbox" || from.type === "radio") from.checked = to.checked;
    else if (from.value !== to.value) from.value = to.value;
  }
}

function children(from, to) {
  const keyed = new Map();
  for (const child of from.childNodes) if (child._key !== undefined) keyed.set(child._key, child);
  let at = from.firstChild;
  for (const desired of [...to.childNodes]) {
    const known = desired._key !== undefined ? keyed.get(desired._key) : undefined;
    if (known) {
      if (known !== at) from.insertBefore(known, at);
      else at = at.nextSibling;
      keyed.delete(desired._key);
      morph(known, desired);
    } else if (at && at._key === undefined && desired._key === undefined && at.nodeName === desired.nodeName) {
      const next = at.nextSibling;
      morph(at, desired);
      at = next;
    } else {
      from.insertBefore(desired, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
  if (from.localName === "select" && to._value !== undefined && from !== document.activeElement) from.value = to._value;
}
