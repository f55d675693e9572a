// A vector as a strip of bars: one bar a number, up (and blue) above zero, down (and orange) below.

// strip draws values (N) against a largest magnitude that all strips of one view share, so that bars compare.
function strip(values, top, label) {
  const N = values.length;
  const limit = top || 1;
  const bars = (sign) =>
    Array.from(values, (x, c) => {
      const height = Math.max(0, (sign * x) / limit);
      return height === 0 ? "" : `M${c + 0.1} 0v${(-sign * height).toFixed(4)}h.8V0z`;
    }).join("");
  const node = svg(
    "svg",
    { class: "strip", viewBox: `0 -1.06 ${N} 2.12`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("path", { class: "axis", d: `M0 0H${N}` }),
    svg("path", { class: "up", d: bars(1) }),
    svg("path", { class: "down", d: bars(-1) }),
  );
  node.addEventListener("pointermove", (event) => {
    const box = node.getBoundingClientRect();
    const c = Math.min(N - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * N)));
    showTip(event.clientX, event.clientY, `${label}, channel ${c}`, el("b", { textContent: values[c].toPrecision(4) }));
  });
  node.addEventListener("pointerleave", hideTip);
  return node;
}
