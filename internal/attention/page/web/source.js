// Where the page's numbers come from. Every view reads a Trace, and every Trace comes from a source:
//
//   source.forward(tokens, signal, plan) -> Promise<Trace>
//                         one forward pass; tokens is an Int32Array of ids, the last block_size of them count; signal
//                         aborts it; it is kept by a task of its own, so that the page stays alive. plan, if there is one,
//                         tells how the next character will be sampled, for a source that likes to begin before it is
//                         asked: {temperature, topK, topP, seed: of the generator}
//   source.capabilities   {canType, canSample: booleans; checkpoints: [{id, name}]; steps: training steps to slide over}
//   source.config         n_layer, n_head, n_embd, head_size, block_size, vocab_size, position
//   source.vocab          {chars: (V) strings, labels: (V) how they are shown}
//   source.name           where the model came from, for people
//   source.parameters     how many numbers the model has, where it is known
//   source.note           what a reader should know first of this page, or absent
//   source.prompt         the text to start with (canType)
//   source.open(id)       chooses a checkpoint; config and vocab are valid when its promise is kept (canType)
//   source.other          a Trace to compare with, or null (when nobody can type)
//   source.select(i)      chooses steps[i] for the next forward (when there are steps)
//
// A Trace is
//
//   tokens (T) Int32Array; labels (T) strings; dropped, step: numbers; next (V), bigram (V) Float32Array
//   heads[layer][head]: weights (T·(T+1)/2) Float32Array, the lower triangle, row i begins at i·(i+1)/2;
//                       halfSteps (T), by how much a weight of row i may have been rounded (zeros: not at all);
//                       q, k, v (T, HS) Float32Array
//   bits: {weights, vectors}, to how many bits numbers were rounded; absent when they are exact

function makeSource(data) {
  switch (data.kind) {
    case "recorded":
      return recordedSource(data);
    case "live":
      return liveSource(data);
    case "playground":
      return workerSource(data); // in playground.js
  }
  throw new Error(`this page has no source of kind ${data.kind}`);
}

// recordedSource has its traces in the page: one, or one for each training step.
function recordedSource(data) {
  const { config, vocab: chars, labels } = data.model;
  const decoded = []; // by step, as they are needed
  let now = data.traces.length - 1;
  return {
    capabilities: {
      canType: false,
      canSample: false,
      checkpoints: [],
      steps: data.traces.length > 1 ? data.traces.map((trace) => trace.step) : [],
    },
    config,
    vocab: { chars, labels },
    name: data.source,
    other: data.other ? decodeTrace(data.other, config) : null,
    select(i) {
      now = i;
    },
    async forward() {
      return (decoded[now] ??= decodeTrace(data.traces[now], config));
    },
  };
}

// liveSource asks the server that the page came from.
function liveSource(data) {
  const source = {
    capabilities: { canType: true, canSample: true, checkpoints: data.checkpoints, steps: [] },
    config: null,
    vocab: { chars: [], labels: [] },
    name: "",
    prompt: data.prompt,
    async open(id, signal) {
      const model = await post("/api/model", { checkpoint: id }, signal);
      checkpoint = id;
      source.config = model.config;
      source.vocab = { chars: model.vocab, labels: model.labels };
      source.name = data.checkpoints.find((c) => c.id === id)?.name ?? id;
    },
    async forward(tokens, signal) {
      const start = Math.max(0, tokens.length - source.config.block_size);
      const kept = Array.from(tokens.subarray(start));
      const wire = await post("/api/forward", { checkpoint, tokens: kept }, signal);
      wire.dropped += start;
      return decodeTrace(wire, source.config);
    },
  };
  let checkpoint = "";
  return source;
}

// post sends JSON and returns the JSON of the answer; an answer that is an error is thrown with the server's words.
async function post(path, body, signal) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (response.ok) return response.json();
  const answer = await response.json().catch(() => ({}));
  throw new Error(answer.error ?? `the server answered ${response.status}`);
}
