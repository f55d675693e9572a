// Two prompts side by side: the same last characters in two contexts. What a Markov chain says of them is one and the
// same; attention weighs them anew in each context.

const SHOWN_ENDING = 24; // shared characters listed, the last ones
const SHOWN_CONTEXT = 60; // characters of each prompt shown

function createCompare(app) {
  const { source } = app;
  const box = byId("other");
  let asked = null; // AbortController of the last request
  let timer = 0;

  // ask shows the trace of the second prompt. The last request wins.
  async function ask() {
    clearTimeout(timer);
    asked?.abort();
    const mine = (asked = new AbortController());
    const ids = new Map(source.vocab.chars.map((char, id) => [char, id]));
    const { known: tokens, complaint } = idsOf(withLineEnds(box.value, ids), ids);
    byId("other-message").textContent = complaint;
    byId("other-message").hidden = complaint === "";
    if (tokens.length === 0) return app.set({ other: null });
    try {
      const other = await source.forward(tokens, mine.signal);
      if (mine === asked) app.set({ other });
    } catch {
      if (mine === asked) app.set({ other: null }); // the first prompt's request says what is wrong
    }
  }

  function typed() {
    clearTimeout(timer);
    timer = setTimeout(ask, TYPING_PAUSE);
  }

  function paint({ trace, other, layer, head }, changed) {
    if (changed.has("config") && source.capabilities.canType) ask();
    byId("compare-card").hidden = !trace || !other;
    if (!trace || !other) return;
    const shared = commonEnd(trace.tokens, other.tokens);
    byId("compare-intro").textContent = introOf(shared);
    byId("compare-texts").replaceChildren(...textOf("A", trace, shared), ...textOf("B", other, shared));
    byId("compare-weights-part").hidden = shared === 0 || trace.heads.length === 0;
    if (shared > 0 && trace.heads.length > 0) paintWeights(trace, other, layer, head, shared);
    paintNext(trace, other);
  }

  const introOf = (shared) =>
    shared === 0
      ? "The prompts end in different characters, so there are no weights to compare, only what comes next."
      : `Both prompts end in the same ${plural(shared, "character")}. What differs is the context before.`;

  // textOf is a line of a prompt's last characters; those that both end in stand out.
  function textOf(name, trace, shared) {
    const from = Math.max(0, trace.labels.length - SHOWN_CONTEXT);
    const chars = trace.labels.slice(from).map((label, i) => {
      const common = from + i >= trace.labels.length - shared;
      return charOf(label, common ? "char common" : "char");
    });
    return [el("b", { textContent: name }), el("span", {}, from > 0 ? "…" : "", ...chars)];
  }

  // paintWeights lists what the last character gives to each shared one, and to all before them together.
  function paintWeights(trace, other, layer, head, shared) {
    const [a, b] = [trace, other].map((t) => rowOf(t.heads[layer][head], t.tokens.length - 1).slice(-shared));
    const rest = [a, b].map((row) => Math.max(0, 1 - row.reduce((sum, w) => sum + w, 0)));
    const most = Math.max(largestOf(a), largestOf(b), ...rest);
    const labels = trace.labels.slice(-shared);
    const from = Math.max(0, shared - SHOWN_ENDING);
    const before = [a, b].map((row, i) => row.subarray(0, from).reduce((sum, w) => sum + w, rest[i]));
    byId("compare-head").replaceChildren(
      `What the last character, `, charOf(labels.at(-1)), `, looks at in layer ${layer} head ${head}`);
    byId("compare-weights").replaceChildren(
      row(el("span", { className: "faint", textContent: "before" }), ...before, Math.max(most, ...before)),
      ...labels.slice(from).map((label, i) => row(charOf(label), a[from + i], b[from + i], Math.max(most, ...before))));
  }

  // paintNext lists the characters that are likeliest after either prompt.
  function paintNext(trace, other) {
    const either = trace.next.map((p, id) => Math.max(p, other.next[id])); // (V)
    const shown = order(either).slice(0, SHOWN_NEXT);
    byId("compare-next").replaceChildren(
      ...shown.map((id) => row(charOf(source.vocab.labels[id]), trace.next[id], other.next[id], either[shown[0]])));
    const moved = trace.next.reduce((sum, p, id) => sum + Math.abs(p - other.next[id]), 0) / 2;
    const [ab, ba] = [[trace, other], [other, trace]].map(([p, q]) => bits(divergence(p.next, q.next)).toFixed(2));
    byId("compare-distance").textContent = `${percent(moved)} of the probability moves between A and B (total variation). ` +
      `KL(A‖B) is ${ab} bits, KL(B‖A) ${ba} bits.`;
  }

  function row(name, a, b, most) {
    const bar = (kind, share) => {
      const node = el("span", { className: `bar ${kind}` });
      node.style.width = `${(100 * share) / (most || 1)}%`;
      return node;
    };
    const change = `${b < a ? "−" : "+"}${(100 * Math.abs(b - a)).toFixed(1)}`;
    return el("div", { className: "next compared" }, name,
      el("span", { className: "pair-bars" }, bar("model", a), bar("second", b)),
      el("span", { className: "figures" },
        el("span", { textContent: percent(a) }), el("span", { textContent: percent(b) })),
      el("span", { className: "change", textContent: change }));
  }

  if (source.capabilities.canType) box.addEventListener("input", typed);
  return { paint };
}

// commonEnd is how many last tokens of a and b are the same.
function commonEnd(a, b) {
  let n = 0;
  while (n < Math.min(a.length, b.length) && a.at(-1 - n) === b.at(-1 - n)) n++;
  return n;
}
