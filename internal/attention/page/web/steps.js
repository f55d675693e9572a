// The step-by-step view: how one query of one head becomes a weighted sum of values, number by number.

const SHOWN_KEYS = 16; // rows of the table until all are asked for

function createSteps(app) {
  let all = false; // show every key?
  let byWeight = true;

  // factsFor gathers what the view shows of a query: every number that leads from q and k to the weights.
  function factsFor({ trace, layer, head, query, key }) {
    const h = trace.heads[layer][head];
    const HS = app.source.config.head_size;
    const T = trace.tokens.length;
    const q = vectorOf(h.q, query, HS); // (HS)
    const weights = rowOf(h, query); // (query+1)
    const scores = Float32Array.from({ length: T }, (_, j) => dot(q, vectorOf(h.k, j, HS))); // (T), raw q·k
    const lengths = Float32Array.from({ length: T }, (_, j) => norm(vectorOf(h.v, j, HS))); // (T)
    const chosen = key !== null && key <= query ? key : order(weights)[0];
    return { h, HS, T, q, weights, scores, lengths, query, chosen, labels: trace.labels };
  }

  function paint(state) {
    const card = byId("steps-card");
    card.hidden = !state.trace?.heads.length;
    if (card.hidden) return;
    const f = factsFor(state);
    byId("steps-intro").replaceChildren(
      "Character ", charOf(f.labels[f.query]), ` at position ${f.query} of layer ${state.layer} head ${state.head}. `,
      "Its query asks: which earlier characters matter for what I must predict? ",
      "A key says what an earlier character can answer; a value is the answer itself.",
    );
    paintPair(f);
    paintTable(f);
    paintOutput(f);
    const { bits: width } = state.trace;
    byId("rounding").hidden = !width || width.vectors >= 16;
    byId("rounding").textContent = `q, k and v are rounded to ${width?.vectors} bits in this page, so the last digits of q·k ` +
      "may differ. The JSON of inspect has the exact numbers.";
  }

  // paintPair shows q, k and their product, bar by bar, for the chosen key.
  function paintPair(f) {
    const k = vectorOf(f.h.k, f.chosen, f.HS);
    const product = f.q.map((x, c) => x * k[c]); // (HS), its sum is q·k
    const top = Math.max(largestOf(f.q), largestOf(k));
    const score = f.scores[f.chosen];
    const scaled = score / Math.sqrt(f.HS);
    const weight = f.weights[f.chosen];
    byId("pair").replaceChildren(
      line("1", ["query ", charOf(f.labels[f.query]), ` ${f.query}`], "what this character asks", strip(f.q, top, "q")),
      line("2", ["key ", charOf(f.labels[f.chosen]), ` ${f.chosen}`], "what that one can answer", strip(k, top, "k")),
      line("3", ["q × k"], "where both agree in sign, bars go up; their sum is the score",
        strip(product, largestOf(product), "q × k")),
      el("p", { className: "sum" },
        term("q·k", round2(score), "how well they fit"), arrow(),
        term(`÷ √${f.HS}`, round2(scaled), "one size for any head"), arrow(),
        term("softmax", percent(weight), "its share among the keys; later ones are −∞"), arrow(),
        term("× ‖v‖", round2(weight * f.lengths[f.chosen]), "how much of the value arrives")),
    );
  }

  function line(number, name, hint, picture) {
    const words = el("div", { className: "vector-name" },
      el("span", { className: "number", textContent: number }),
      el("b", {}, ...name),
      el("span", { className: "faint", textContent: hint }));
    return el("div", { className: "vector" }, words, picture);
  }

  const arrow = () => el("span", { className: "arrow", textContent: "→" });
  const term = (name, value, hint) =>
    el("span", { className: "term" }, el("span", { textContent: name }), el("b", { textContent: value }),
      el("span", { className: "faint", textContent: hint }));

  function paintTable(f) {
    const keys = byWeight ? byShare(f) : Array.from(f.weights.keys());
    const limit = all ? keys.length : Math.min(keys.length, SHOWN_KEYS);
    const shown = byWeight ? keys.slice(0, limit) : keys.slice(keys.length - limit);
    const later = Math.min(f.T - 1 - f.query, all ? f.T : 2);
    const top = shown.reduce((most, j) => Math.max(most, largestOf(vectorOf(f.h.k, j, f.HS))), 0);
    byId("keys").replaceChildren(
      headings(f.HS),
      el("tbody", {},
        ...shown.map((j) => keyRow(f, j, top)),
        ...Array.from({ length: later }, (_, n) => maskedRow(f, f.query + 1 + n, top))),
    );
    const more = keys.length - limit + (f.T - 1 - f.query - later);
    byId("all-keys").hidden = !all && more === 0;
    const counts = `${plural(f.query + 1, "key")}, ${f.T - 1 - f.query} masked`;
    byId("all-keys").textContent = all ? "Show fewer" : `Show ${more} more (${counts})`;
  }

  // byShare orders keys by weight; those that are rounded to one weight by their score.
  const byShare = ({ weights, scores }) =>
    Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a] || scores[b] - scores[a]);

  function headings(HS) {
    const names = [
      ["key", ""], ["k", "what the character can answer"], ["q·k", "how well the answer fits the question"],
      [`÷ √${HS}`, "keeps scores of one size whatever the head size"], ["mask", "a query sees no later character: −∞"],
      ["softmax", "e to the score, divided by the sum over all keys: weights sum to 1"],
      ["‖v‖", "how much the value has to say"], ["weight × ‖v‖", "how much of it arrives"],
    ];
    return el("thead", {}, el("tr", {}, ...names.map(([textContent, title]) => el("th", { textContent, title, scope: "col" }))));
  }

  function keyRow(f, j, top) {
    const weight = f.weights[j];
    const bar = el("span", { className: "weight-bar" });
    bar.style.width = `${100 * weight}%`;
    const row = el("tr", { className: j === f.chosen ? "chosen" : "" },
      keyCell(f, j, top), stripCell(f, j, top),
      cell(round2(f.scores[j])), cell(round2(f.scores[j] / Math.sqrt(f.HS))), cell("✓"),
      el("td", { className: "weight" }, el("span", { textContent: percent(weight) }), bar),
      cell(round2(f.lengths[j])), cell(round2(weight * f.lengths[j])));
    row.dataset.key = j;
    return row;
  }

  function maskedRow(f, j, top) {
    const row = el("tr", { className: "masked" },
      keyCell(f, j), stripCell(f, j, top),
      cell(round2(f.scores[j])), cell(round2(f.scores[j] / Math.sqrt(f.HS))), cell("−∞"),
      el("td", { className: "weight", textContent: "0" }), cell(round2(f.lengths[j])), cell("0"));
    row.dataset.key = j;
    return row;
  }

  const cell = (textContent) => el("td", { textContent });
  const stripCell = (f, j, top) =>
    el("td", { className: "bars" }, strip(vectorOf(f.h.k, j, f.HS), top, `k of position ${j}`));

  function keyCell(f, j) {
    const choose = el("button", { type: "button", className: "pick" }, charOf(f.labels[j]), ` ${j}`);
    choose.title = "Show this key above";
    choose.disabled = j > f.query;
    choose.addEventListener("click", () => app.set({ key: j, locked: true }));
    return el("td", {}, choose);
  }

  function paintOutput(f) {
    const out = weightedSum(f.weights, f.h.v, f.HS);
    byId("output").replaceChildren(
      line("4", ["Σ weight × v"], "the head's output: a weighted bag of the values", strip(out, largestOf(out), "output")));
  }

  byId("all-keys").addEventListener("click", () => {
    all = !all;
    app.set({ order: all });
  });
  for (const [id, value] of [["by-weight", true], ["by-position", false]]) {
    byId(id).addEventListener("click", () => {
      byWeight = value;
      byId("by-weight").setAttribute("aria-pressed", byWeight);
      byId("by-position").setAttribute("aria-pressed", !byWeight);
      app.set({ order: value });
    });
  }
  return { paint };
}
