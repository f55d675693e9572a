// The heat map of the chosen head, large: hovering a cell shows its weight, and makes its row the query.

const AXIS_TOKENS = 40; // with more tokens than these, labels along the axes would be too small to read

function createMatrix(app, tipOf) {
  const picture = byId("matrix-picture");

  // cellAt is the [query, key] under the pointer.
  function cellAt(event) {
    const T = app.state.trace.tokens.length;
    const box = picture.getBoundingClientRect();
    const at = (x, size) => Math.min(T - 1, Math.max(0, Math.floor((x / size) * T)));
    return [at(event.clientY - box.top, box.height), at(event.clientX - box.left, box.width)];
  }

  function hover(event) {
    if (!app.state.trace?.heads.length) return;
    const [i, j] = cellAt(event);
    app.set(app.state.locked ? { key: j } : { query: i, key: j });
    showTip(event.clientX, event.clientY, ...tipOf(i, j));
  }

  function paint(state, changed) {
    const head = state.trace?.heads[state.layer]?.[state.head];
    byId("matrix").hidden = !head;
    if (!head) return;
    const T = state.trace.tokens.length;
    const other = ["trace", "scale", "layer", "head"].some((name) => changed.has(name));
    if (other) drawHeat(byId("heat"), head, T, state.scale, 1024);
    if (changed.has("trace")) labelAxes(state.trace.labels);
    mark(byId("mark-row"), "top", "height", state.query, T);
    mark(byId("mark-column"), "left", "width", state.key, T);
  }

  function mark(node, side, extent, index, T) {
    node.hidden = index === null;
    node.style[side] = `${(100 * index) / T}%`;
    node.style[extent] = `${100 / T}%`;
  }

  function labelAxes(labels) {
    const shown = labels.length <= AXIS_TOKENS ? labels : [];
    byId("matrix").style.setProperty("--count", labels.length);
    for (const id of ["matrix-top", "matrix-left"]) {
      byId(id).replaceChildren(...shown.map((label) => charOf([...label].length > 2 ? "…" : label)));
    }
  }

  picture.addEventListener("pointermove", hover);
  picture.addEventListener("pointerleave", hideTip);
  picture.addEventListener("click", (event) => {
    app.set({ query: cellAt(event)[0], locked: !app.state.locked });
  });
  return { paint };
}
