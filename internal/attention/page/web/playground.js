// The source of a page that holds the model itself: a Web Worker runs it (worker.js), this side keeps what the worker
// recorded of each token and makes Traces of it.

// workerSource starts the worker and speaks to it.
function workerSource(data) {
  const { config, vocab: chars, labels } = data.model;
  const chain = chainOf(data.network.bigram, config.vocab_size);
  const worker = launch(data.program);
  const waiting = new Map(); // requests by id: what to do with the answer
  const ready = Promise.withResolvers();
  let records = []; // of the tokens that the worker's sequence has
  let asked = 0; // requests so far
  let ahead = null; // what the worker guesses of requests to come: {id, plan, guesses, taker}

  worker.onmessage = ({ data: message }) => {
    if (message.records) records = records.slice(0, message.from).concat(message.records);
    else if (message.ready) ready.resolve();
    else if (message.id === undefined) ready.reject(new Error(message.error));
    else if (message.guess !== undefined) guessed(message);
    else waiting.get(message.id)?.(message);
  };
  worker.onerror = ({ message }) => {
    const error = `the model's worker failed: ${message}`;
    ready.reject(new Error(error));
    for (const settle of [...waiting.values()]) settle({ error });
  };
  worker.postMessage({ network: data.network, config });

  // forward asks for the trace of the last block_size tokens, or waits for the worker to guess that it would.
  async function forward(tokens, signal, plan) {
    const dropped = Math.max(0, tokens.length - config.block_size);
    const kept = tokens.slice(dropped); // (T)
    if (ahead && plan && samePlan(ahead.plan, plan)) {
      const guess = await nextGuess(signal);
      if (sameTokens(guess.tokens, kept)) return traceOf(kept, dropped, guess.next, guess.records);
    }
    const { next } = await request(kept, signal, plan);
    return traceOf(kept, dropped, next, records);
  }

  // request asks for the distribution after tokens. When it comes, the records are those of the tokens.
  function request(tokens, signal, plan) {
    const id = asked++;
    drop();
    ahead = plan ? { id, plan, guesses: [], taker: null } : null;
    worker.postMessage({ id, tokens, plan });
    return promised(id, signal, (keep) => waiting.set(id, keep)).finally(() => waiting.delete(id));
  }

  // nextGuess is the worker's next guess, {tokens, next, records}; its tokens are null when it gave up.
  function nextGuess(signal) {
    const { id, guesses } = ahead;
    if (guesses.length > 0) return use(guesses.shift());
    return promised(id, signal, (keep) => (ahead.taker = keep)).then(use);
  }

  function use(guess) {
    if (ahead) worker.postMessage({ used: ahead.id });
    return guess;
  }

  // drop ends the plan; whoever waits for its next guess asks by himself.
  function drop() {
    const taker = ahead?.taker;
    ahead = null;
    taker?.({ tokens: null });
  }

  function guessed({ id, guess, next }) {
    if (ahead?.id !== id) return; // of a plan that is no more
    const made = { tokens: guess, next, records };
    const { taker } = ahead;
    ahead.taker = null;
    if (taker) taker(made);
    else ahead.guesses.push(made);
  }

  // promised is an answer about a request: start is given what to call with it. The signal ends the wait, and the plan.
  function promised(id, signal, start) {
    return new Promise((resolve, reject) => {
      const abort = () => {
        worker.postMessage({ abort: id });
        if (ahead?.id === id) drop();
        reject(signal.reason);
      };
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort);
      start((answer) => {
        signal?.removeEventListener("abort", abort);
        if (answer.error) reject(new Error(answer.error));
        else resolve(answer);
      });
    });
  }

  const traceOf = (tokens, dropped, next, records) =>
    Object.assign(
      lazily({
        labels: () => Array.from(tokens, (id) => labels[id]), // (T)
        heads: () => headsOf(records, config),
        bigram: () => chain(tokens.at(-1)), // (V)
      }),
      { step: data.step, dropped, tokens, next },
    );

  return {
    capabilities: { canType: true, canSample: true, checkpoints: [], steps: [] },
    config,
    vocab: { chars, labels },
    name: data.source,
    parameters: data.network.parameters.reduce((sum, { shape }) => sum + sizeOf(shape), 0),
    note: "The model is inside this file and needs no network. " +
      "Type, or press Run: it predicts what comes next, one character at a time.",
    prompt: data.prompt,
    open: () => ready.promise,
    forward,
  };
}

const samePlan = (a, b) => a.temperature === b.temperature && a.topK === b.topK && a.topP === b.topP;
const sameTokens = (a, b) => a?.length === b.length && a.every((id, i) => id === b[i]);

// sizeOf is how many numbers a tensor has.
const sizeOf = (shape) => shape.reduce((product, n) => product * n);

// launch makes a worker of its program's text: a page on a disk has no other file to load it from.
function launch(program) {
  const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  const worker = new Worker(address);
  URL.revokeObjectURL(address);
  return worker;
}

// headsOf sorts the records of T tokens by head: what is asked for first is copied first, as most heads are never opened.
function headsOf(records, { n_layer, n_head, head_size: HS }) {
  const T = records.length;
  const A = n_head * HS;

  // gather puts a part of every record into one array: its size and place are those of the i-th token in its layer.
  function gather(layer, total, sizeOf, placeOf) {
    const out = new Float32Array(total);
    let at = 0;
    records.forEach((record, i) => {
      const from = (layer * record.length) / n_layer + placeOf(i);
      out.set(record.subarray(from, from + sizeOf(i)), at);
      at += sizeOf(i);
    });
    return out;
  }

  const vector = (layer, place) => gather(layer, T * HS, () => HS, () => place); // (T, HS)
  const head = (layer, h) =>
    lazily({
      weights: () => gather(layer, (T * (T + 1)) / 2, (i) => i + 1, (i) => 3 * A + h * (i + 1)), // (T·(T+1)/2)
      halfSteps: () => new Float32Array(T), // (T)
      q: () => vector(layer, h * HS),
      k: () => vector(layer, A + h * HS),
      v: () => vector(layer, 2 * A + h * HS),
    });
  const times = (n, f) => Array.from({ length: n }, (_, i) => f(i));
  return times(n_layer, (layer) => times(n_head, (h) => head(layer, h)));
}

// chainOf reads the counts of the Markov chain that page/playground.go packed: for each character the number of pairs
// that it begins, and for each the distance to the next one's id and how often it occurs, in seven bits a byte. It
// returns a function: a character's id -> P(next | character), (V), with each pair counted once more than it occurs.
function chainOf(base64, V) {
  const bytes = bytesOf(base64);
  let at = 0;
  const rows = []; // (V) lists of [id, count]

  function number() {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  }

  for (let current = 0; current < V; current++) {
    let id = -1;
    rows.push(Array.from({ length: number() }, () => [(id += number()), number()]));
  }
  return (current) => {
    const total = rows[current].reduce((sum, [, count]) => sum + count, V);
    const p = new Float32Array(V).fill(1 / total);
    for (const [id, count] of rows[current]) p[id] = (count + 1) / total;
    return p;
  };
}
