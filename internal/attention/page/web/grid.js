// The overview: a small heat map for every head of every layer, and a word about what the head looks at.

function createGrid(app) {
  const root = byId("grid");
  let cells = []; // (NLayer·NHead), in reading order

  function build({ n_layer, n_head }) {
    cells = [];
    for (let layer = 0; layer < n_layer; layer++) {
      for (let head = 0; head < n_head; head++) cells.push(cell(layer, head));
    }
    root.style.setProperty("--heads", n_head);
    root.replaceChildren(...cells.map((c) => c.button));
    if (cells.length === 0) root.append(el("p", { className: "hint", textContent: "This model has no attention layer." }));
  }

  function cell(layer, head) {
    const name = `layer ${layer} head ${head}`;
    const canvas = el("canvas", { width: 1, height: 1 });
    const tag = el("span", { className: "tag" });
    const word = (textContent) => el("span", { textContent });
    const words = el("span", { className: "name" }, word(`layer ${layer}`), " ", word(`head ${head}`));
    const button = el("button", { type: "button", className: "cell" }, canvas, words, tag);
    button.setAttribute("role", "radio");
    Object.assign(button.dataset, { layer, head });
    button.addEventListener("click", () => app.set({ layer, head }));
    button.addEventListener("keydown", (event) => move(event, layer, head));
    return { layer, head, name, canvas, tag, button };
  }

  function move(event, layer, head) {
    const { n_layer, n_head } = app.source.config;
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!by) return;
    event.preventDefault();
    layer = Math.min(n_layer - 1, Math.max(0, layer + by[0]));
    head = Math.min(n_head - 1, Math.max(0, head + by[1]));
    app.set({ layer, head });
    cells[layer * n_head + head].button.focus();
  }

  function draw({ trace, scale }) {
    const T = trace.tokens.length;
    for (const c of cells) {
      const head = trace.heads[c.layer][c.head];
      const habit = habitOf(summarise(head, trace.tokens), T);
      drawHeat(c.canvas, head, T, scale, 128);
      c.tag.textContent = habit;
      c.button.setAttribute("aria-label", habit ? `${c.name}: ${habit}` : c.name);
      c.button.title = c.name + (habit ? `: on average ${habit}` : "");
    }
  }

  function paint(state, changed) {
    if (changed.has("config")) build(app.source.config);
    if (!state.trace) return;
    if (changed.has("trace") || changed.has("scale")) draw(state);
    for (const c of cells) {
      const chosen = c.layer === state.layer && c.head === state.head;
      c.button.setAttribute("aria-checked", chosen);
      c.button.tabIndex = chosen ? 0 : -1;
    }
  }

  return { paint };
}

// habitOf names what receives most of a head's attention, when that is more than a third of it: the previous character,
// the first, the query itself, or earlier ones that are the same.
function habitOf(s, T) {
  if (T < 3) return "";
  const shares = [["previous", s.previous], ["first", s.first], ["itself", s.self], ["same", s.same]];
  const [name, share] = shares.reduce((a, b) => (b[1] > a[1] ? b : a));
  return share > 1 / 3 ? `${name} ${percent(share)}` : "";
}
