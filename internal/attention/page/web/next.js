// The next-character view: the model's distribution, which depends on the whole context, beside the Markov chain's,
// which knows the last character alone and never changes for it.

const SHOWN_NEXT = 10;

function createNext(app) {
  function paint({ trace, temperature, topK, topP }) {
    byId("next-card").hidden = !trace;
    byId("temperature-now").textContent = temperature.toFixed(2);
    if (!trace) return;
    const heated = sharpen(trace.next, temperature); // (V)
    const p = filter(heated, topK, topP); // (V)
    const shown = order(heated).slice(0, SHOWN_NEXT);
    const most = shown.reduce((top, id) => Math.max(top, p[id], trace.bigram[id]), 0);
    byId("last-char").textContent = trace.labels.at(-1);
    byId("bars").replaceChildren(...shown.map((id) => row(id, p[id], trace.bigram[id], most)));
    const gain = bits(divergence(trace.next, trace.bigram)).toFixed(2);
    const [model, chain] = [p, trace.bigram].map((q) => bits(entropy(q)).toFixed(2));
    byId("divergence").textContent = `Context tells ${gain} bits beyond the Markov chain (KL divergence at temperature 1). ` +
      `Uncertainty: model ${model} bits, chain ${chain} bits.`;
  }

  function row(id, model, markov, most) {
    const node = el("div", { className: "next" },
      charOf(app.source.vocab.labels[id]),
      el("span", { className: "pair-bars" }, bar("model", model, most), bar("markov", markov, most)),
      el("span", { className: "figures" },
        el("b", { textContent: model === 0 ? "cut" : percent(model) }),
        el("span", { className: "faint", textContent: percent(markov) })));
    node.dataset.id = id;
    node.dataset.model = model;
    node.dataset.markov = markov;
    return node;
  }

  function bar(kind, p, most) {
    const node = el("span", { className: `bar ${kind}` });
    node.style.width = `${(100 * p) / most}%`;
    return node;
  }

  byId("temperature").addEventListener("input", (event) => app.set({ temperature: Number(event.target.value) }));
  return { paint };
}
