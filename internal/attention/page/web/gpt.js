// The model's forward pass for one sequence, as model/gpt.go, block.go, attention.go and decode.go have it in Go.
// Shapes: T new tokens after P earlier ones, C channels, A = NH·HS channels of all heads side by side, V characters.
// A matrix is (out, in): the weights of one output are a row, so that every inner loop walks through memory.

class GPT {
  constructor(config, parameters) {
    this.config = config;
    this.parameters = parameters; // {data, shape} by name, as in a checkpoint
    this.A = config.n_head * config.head_size;
    this.length = 0; // P, tokens whose keys and values are cached
    const cache = () => new Float32Array(config.block_size * this.A);
    this.keys = Array.from({ length: config.n_layer }, cache); // a layer's (block_size, A)
    this.values = Array.from({ length: config.n_layer }, cache);
    this.weights = new Float32Array(config.block_size); // of the query at hand
    if (config.position === "rope") this.turns = rotations(config); // (block_size, HS)
    else if (config.position !== "learned") throw new Error(`this page knows no positions of kind ${config.position}`);
  }

  // forward appends tokens to the sequence, which has block_size of them at most, and returns a record of each: for every
  // layer its query, key and value (A each), then its attention weights (NH, position+1). With last, it also returns the
  // distribution of the character that follows, next (V).
  forward(tokens, last) {
    const { n_layer, n_embd: C } = this.config;
    const records = Array.from(tokens, (_, i) => new Float32Array(this.recordSize(this.length + i)));
    let x = this.embedding(tokens); // (T, C)
    for (let layer = 0; layer < n_layer; layer++) {
      const asked = layer < n_layer - 1 ? tokens.length : last ? 1 : 0; // of the last layer only the last token matters
      x = this.block(layer, x, asked, records); // (asked, C)
    }
    this.length += tokens.length;
    if (!last) return { records };
    x = this.layerNorm(x.subarray(-C), "ln_f"); // (1, C)
    return { records, next: this.distribution(this.lmHead(x)) };
  }

  // forget leaves the first n tokens of the sequence.
  forget(n) {
    this.length = n;
  }

  // recordSize is how many numbers the record of the token at a position has.
  recordSize(position) {
    const { n_layer, n_head } = this.config;
    return n_layer * (3 * this.A + n_head * (position + 1));
  }

  // embedding turns ids into vectors: a row of wte for the character and, unless positions are rotary, a row of wpe for
  // its place in the context.
  embedding(tokens) {
    const { n_embd: C } = this.config;
    const [wte, wpe] = [this.data("wte"), this.data("wpe")]; // (V, C), (block_size, C)
    const x = new Float32Array(tokens.length * C);
    tokens.forEach((id, i) => {
      const place = (this.length + i) * C;
      for (let c = 0; c < C; c++) x[i * C + c] = wte[id * C + c] + (wpe ? wpe[place + c] : 0);
    });
    return x; // (T, C)
  }

  // block is GPT-2's pre-LayerNorm transformer block: two branches that each add to the residual stream x. It goes on
  // with the last asked tokens once attention has seen all.
  block(layer, x, asked, records) {
    const h = `h.${layer}.`;
    const y = this.attention(layer, this.layerNorm(x, h + "ln_1"), records); // (T, A)
    x = x.subarray(x.length - asked * this.config.n_embd); // (asked, C)
    x = add(x, this.linear(y.subarray(y.length - asked * this.A), h + "attn.w_o", h + "attn.b_o")); // (asked, C)
    if (this.config.attn_only) return x;
    return add(x, this.mlp(h + "mlp.", this.layerNorm(x, h + "ln_2"))); // (asked, C)
  }

  // attention lets every token look back (Vaswani et al. 2017, section 3.2): softmax(Q Kᵀ / √HS) V, over the keys up to
  // the query.
  attention(layer, y, records) {
    const p = `h.${layer}.attn.`;
    const q = this.linear(y, p + "w_q", p + "b_q"); // (T, A)
    const k = this.linear(y, p + "w_k", p + "b_k"); // (T, A)
    const v = this.linear(y, p + "w_v", p + "b_v"); // (T, A)
    if (this.turns) {
      this.rotate(q);
      this.rotate(k);
    }
    this.keys[layer].set(k, this.length * this.A);
    this.values[layer].set(v, this.length * this.A);
    const out = new Float32Array(q.length); // (T, A)
    records.forEach((record, i) => {
      const row = (m) => m.subarray(i * this.A, (i + 1) * this.A); // (A)
      const at = (layer * record.length) / this.config.n_layer; // where the layer begins
      record.set(row(q), at);
      record.set(row(k), at + this.A);
      record.set(row(v), at + 2 * this.A);
      this.attend(layer, row(q), row(out), record, at + 3 * this.A, this.length + i + 1);
    });
    return out; // (T, A)
  }

  // attend is what one token's query q (A) makes of the first n keys and values, head by head: their weights, which go
  // into the record, and the weighted sum of the values, out (A).
  attend(layer, q, out, record, at, n) {
    const { n_head, head_size: HS } = this.config;
    for (let c = 0; c < n_head * HS; c += HS, at += n) {
      const weights = this.weights.subarray(0, n);
      products(weights, 0, q, c, this.keys[layer], c, this.A, HS, n); // (n), q·k
      softmax(weights, 1 / Math.sqrt(HS)); // (n)
      mix(out, c, weights, this.values[layer], c, this.A, HS); // (HS)
      record.set(weights, at);
    }
  }

  // rotate turns queries or keys (T, A) by their position (Su et al. 2021): channels j and j + HS/2 of a head are a pair.
  rotate(x) {
    const { head_size: HS } = this.config;
    const half = HS / 2;
    for (let at = 0; at < x.length; at += HS) {
      const turn = (this.length + Math.floor(at / this.A)) * HS;
      for (let j = 0; j < half; j++) {
        const [cos, sin] = [this.turns[turn + j], this.turns[turn + half + j]];
        const [a, b] = [x[at + j], x[at + half + j]];
        x[at + j] = a * cos - b * sin;
        x[at + half + j] = a * sin + b * cos;
      }
    }
  }

  // mlp works on each token alone: four times as many channels, a nonlinearity, and back.
  mlp(p, y) {
    y = this.linear(y, p + "w_fc", p + "b_fc"); // (T, 4C)
    y = gelu(y); // (T, 4C)
    return this.linear(y, p + "w_proj", p + "b_proj"); // (T, C)
  }

  // lmHead gives every character of the vocabulary a score.
  lmHead(x) {
    return this.linear(x, this.config.tied ? "wte" : "lm_head"); // (V)
  }

  // distribution is the softmax of the logits, (V) -> (V).
  distribution(logits) {
    const bad = logits.findIndex((x) => Number.isNaN(x) || x === Infinity);
    if (bad >= 0) {
      throw new Error(`the logit of character ${bad} is ${logits[bad]}: ` +
        "the model's weights are damaged or its training diverged");
    }
    softmax(logits, 1);
    return logits;
  }

  // linear is x Wᵀ + b, (T, in) -> (T, out); a model may have no b.
  linear(x, w, b) {
    const { data, shape } = this.parameters[w]; // (out, in)
    return linear(x, data, this.data(b), shape[1], shape[0]);
  }

  layerNorm(x, name) {
    return layerNorm(x, this.data(name + ".weight"), this.data(name + ".bias")); // (T, C)
  }

  // data is the numbers of a parameter, or undefined where the model has none of that name.
  data(name) {
    return this.parameters[name]?.data;
  }
}

// rotations are the cosines and sines by which a head's pairs of channels turn at each position: (block_size, HS), half
// of a row cosines, half sines. Pair j turns by position · 10000^(−j/(HS/2)).
function rotations({ block_size, head_size: HS }) {
  const turns = new Float32Array(block_size * HS);
  const half = HS / 2;
  for (let position = 0; position < block_size; position++) {
    for (let j = 0; j < half; j++) {
      const angle = position * 10000 ** (-j / half);
      turns[position * HS + j] = Math.cos(angle);
      turns[position * HS + half + j] = Math.sin(angle);
    }
  }
  return turns;
}
