// Small helpers for the page's elements. Text goes in as textContent only: a label of the vocabulary may be any character.

const byId = (id) => document.getElementById(id);

// el makes an element: el("p", {className: "faint"}, "text", child, …).
function el(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

// svg makes an SVG element with attributes.
function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// charOf shows a label in its own box, so that a character that turns the direction of writing turns nothing else.
function charOf(label, className = "char") {
  return el("span", { className, textContent: label });
}

// showTip shows lines of text (or elements) beside a point of the window; hideTip takes them away.
function showTip(x, y, ...lines) {
  const tip = byId("tip");
  tip.replaceChildren(...lines.map((line) => el("div", {}, ...[line].flat())));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(x + 14, window.innerWidth - width - 8);
  const below = y + 22; // the lines to the keys lead up, and stay in sight
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${below + height < window.innerHeight - 8 ? below : y - height - 14}px`;
}

function hideTip() {
  byId("tip").hidden = true;
}

// showTipAt shows a tooltip over an element, for keyboard users.
function showTipAt(node, ...lines) {
  const box = node.getBoundingClientRect();
  showTip(box.right - 8, box.bottom - 14, ...lines);
}

// percent writes a share; the space in it never breaks.
const percent = (x) => (x < 0.0005 ? "<0.1\u00a0%" : `${(100 * x).toFixed(x < 0.0995 ? 1 : 0)}\u00a0%`);
const round2 = (x) => x.toFixed(2).replace("-", "−");
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
