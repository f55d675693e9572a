// The head view: the prompt as text, with lines from one query to its keys, and the whole head as a heat map beside it.

const ROOM = 40; // pixels between the query and the pane's edges

function createHead(app) {
  const list = byId("tokens");
  const pane = document.querySelector(".text-pane"); // a long text scrolls in it
  let tokens = []; // (T) elements
  let boxes = null; // (T), measured when first needed

  function build({ trace }) {
    tokens = trace.labels.map((label, i) => token(trace, label, i));
    const lineBreak = () => el("span", { className: "break" });
    const rows = tokens.flatMap((node, i) => (charAt(trace, i) === "\n" ? [node, lineBreak()] : [node]));
    list.replaceChildren(...rows);
    list.className = tokens.length <= 32 ? "large" : tokens.length > 100 ? "dense" : "";
    boxes = null;
  }

  const charAt = (trace, i) => app.source.vocab.chars[trace.tokens[i]];

  function token(trace, label, i) {
    const node = charOf(label, "token char");
    node.classList.toggle("stand-in", label !== charAt(trace, i));
    node.classList.toggle("long", label.length > 4);
    node.setAttribute("role", "option");
    node.dataset.i = i;
    return node;
  }

  const current = () => {
    const { trace, layer, head } = app.state;
    return trace?.heads[layer]?.[head];
  };

  // within is the place of a character on show, i, in the state's trace: that may have become another one meanwhile.
  const within = (i) => Math.min(i, (app.state.trace?.tokens.length ?? 1) - 1);
  const placeOf = (node) => within(Number(node.dataset.i));

  // weightOf is a key's weight from the current query, as lines of a tooltip.
  function tipOf(i, j) {
    const { trace } = app.state;
    const who = ["query ", charOf(trace.labels[i]), ` ${i} → key `, charOf(trace.labels[j]), ` ${j}`];
    if (j > i) return [who, "masked: a query sees no later character"];
    const head = current();
    const weight = rowOf(head, i)[j];
    const half = head.halfSteps[i];
    const exact = el("span", { className: "exact", textContent: `weight ${weight.toPrecision(7)}` });
    exact.dataset.weight = weight;
    return [who, el("b", { textContent: percent(weight) }), [exact, half > 0 ? ` ± ${half.toExponential(1)}` : ""]];
  }

  function queryTip(i) {
    const row = rowOf(current(), i);
    const top = order(row).slice(0, 3);
    return [
      ["query ", charOf(app.state.trace.labels[i]), ` at position ${i}: ${plural(i + 1, "key")}`],
      ...top.map((j) => [charOf(app.state.trace.labels[j]), ` ${j}: ${percent(row[j])}`]),
    ];
  }

  function hover(event) {
    const node = event.target.closest(".token");
    if (!node || !current()) return;
    const i = placeOf(node);
    if (app.state.locked) {
      app.set({ key: i });
      showTip(event.clientX, event.clientY, ...tipOf(app.state.query, i));
    } else {
      app.set({ query: i, key: null });
      showTip(event.clientX, event.clientY, ...queryTip(i));
    }
  }

  function click(event) {
    const node = event.target.closest(".token");
    if (!node) return;
    const i = placeOf(node);
    const again = app.state.locked && app.state.query === i;
    app.set({ query: i, key: null, locked: !again });
  }

  function press(event) {
    const to = moved(event.key, Math.min(app.state.query, tokens.length - 1));
    if (to !== null) {
      const i = within(to);
      app.set({ query: i, key: null });
      tokens[i].focus();
      if (current()) showTipAt(tokens[i], ...queryTip(i));
    } else if (event.key === "Enter" || event.key === " ") {
      app.set({ locked: true });
    } else if (event.key === "Escape") {
      app.set({ locked: false, key: null });
      hideTip();
    } else {
      return;
    }
    event.preventDefault();
  }

  // moved is the query that a key leads to from query i, or null.
  function moved(key, i) {
    const last = tokens.length - 1;
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: last }[key];
    if (to !== undefined) return Math.min(last, Math.max(0, to));
    if (key === "ArrowUp") return inNextRow(i, -1);
    if (key === "ArrowDown") return inNextRow(i, 1);
    return null;
  }

  function inNextRow(i, direction) {
    boxes ??= boxesOf(tokens);
    const here = boxes[i];
    const beyond = boxes.filter((b) => (b.top - here.top) * direction > 0).map((b) => b.top);
    if (beyond.length === 0) return i;
    const row = direction < 0 ? Math.max(...beyond) : Math.min(...beyond);
    const away = boxes.map((b) => (b.top === row ? -Math.abs(b.x - here.x) : -Infinity));
    return order(away)[0];
  }

  // focused follows a reader who reaches a character without mouse or arrow keys.
  function focused(event) {
    const node = event.target.closest(".token");
    if (node && !app.state.locked) app.set({ query: placeOf(node), key: null });
  }

  function lineTip(event) {
    if (!event.target.dataset.key) return;
    showTip(event.clientX, event.clientY, ...tipOf(app.state.query, Number(event.target.dataset.key)));
  }

  function paint(state, changed) {
    if (!state.trace) return;
    if (changed.has("trace")) build(state);
    paintTitle(state);
    const head = current();
    const weights = head ? rowOf(head, state.query) : [];
    tokens.forEach((node, j) => paintToken(node, j, weights, state));
    boxes ??= boxesOf(tokens);
    if (changed.has("query") || changed.has("size") || (changed.has("trace") && !state.locked)) follow(boxes[state.query]);
    fade();
    if (!head) return byId("lines").replaceChildren();
    drawLines(byId("lines"), boxes, weights, state.scale);
  }

  // follow brings the query into sight, with room for its lines, unless the reader points at the text: it would move away
  // from under the pointer. Only the pane scrolls, not the page.
  function follow({ top, bottom }) {
    if (pane.matches(":hover")) return;
    const lowest = Math.max(0, top - ROOM);
    const highest = bottom + ROOM - pane.clientHeight;
    pane.scrollTop = Math.min(lowest, Math.max(highest, pane.scrollTop));
  }

  // fade shows where text goes on past the pane's edges.
  function fade() {
    const { scrollTop, scrollHeight, clientHeight } = pane;
    pane.classList.toggle("more-above", scrollTop > 1);
    pane.classList.toggle("more-below", scrollTop + clientHeight < scrollHeight - 1);
  }

  function paintToken(node, j, weights, { query, key, locked, scale }) {
    const seen = j < weights.length;
    node.classList.toggle("query", j === query);
    node.classList.toggle("locked", j === query && locked);
    node.classList.toggle("later", j > query);
    node.classList.toggle("key", j === key);
    node.style.background = seen ? scale.css(weights[j]) : "";
    node.style.color = seen ? scale.ink(weights[j]) : "";
    node.tabIndex = j === query ? 0 : -1;
    node.setAttribute("aria-selected", j === query);
  }

  function paintTitle({ trace, layer, head, locked, query }) {
    byId("head-title").textContent = current() ? `Layer ${layer} head ${head}` : "No attention";
    byId("lock-state").textContent = locked ? `🔒 query ${query} locked` : `query ${query}`;
    byId("lock-state").classList.toggle("locked", locked);
    const facts = current() ? factsOf(summarise(current(), trace.tokens)) : "This model has no attention layer.";
    byId("head-facts").textContent = facts;
  }

  list.addEventListener("pointermove", hover);
  list.addEventListener("pointerleave", hideTip);
  list.addEventListener("click", click);
  list.addEventListener("keydown", press);
  list.addEventListener("focusin", focused);
  list.addEventListener("focusout", hideTip);
  pane.addEventListener("scroll", fade, { passive: true });
  byId("lines").addEventListener("pointermove", lineTip);
  byId("lines").addEventListener("pointerleave", hideTip);
  new ResizeObserver(() => {
    boxes = null;
    app.set({ size: list.clientWidth });
  }).observe(list);

  return { paint, tipOf };
}

// factsOf says in one line what a head does on average.
function factsOf(s) {
  const entropy = `entropy ${s.entropy.toFixed(2)} nats, ${bits(s.entropy).toFixed(2)} bits`;
  return [
    `On average it looks ${s.distance.toFixed(1)} characters back`,
    `${percent(s.previous)} on the previous character`,
    `${percent(s.first)} on the first`,
    `${percent(s.self)} on itself`,
    `${percent(s.same)} on earlier equal characters`,
    `spread over ${Math.exp(s.entropy).toFixed(1)} keys (${entropy})`,
  ].join(" · ");
}
