// Sampling of the next character from the model's distribution, as model/sample does it: temperature, then top-k, then
// top-p. It sees probabilities and nothing else, so it is the same for a model on a server and for one in the page.

// sharpen is softmax(logits / temperature), from the softmax at temperature 1: p^(1/temperature), normalised. (V) -> (V)
// Temperature 0 is all on the likeliest character; of equals, the first.
function sharpen(p, temperature) {
  const out = new Float64Array(p.length);
  const top = largestOf(p);
  if (temperature === 0) {
    out[p.indexOf(top)] = 1;
    return out;
  }
  p.forEach((x, i) => {
    out[i] = x > 0 ? Math.exp(Math.log(x / top) / temperature) : 0;
  });
  return normalise(out);
}

function normalise(p) {
  const sum = p.reduce((a, b) => a + b, 0);
  return p.map((x) => x / sum);
}

// filter keeps the topK likeliest characters (0: all), then the fewest likeliest of them that reach topP together
// (1: all), and at least one. (V) -> (V)
function filter(p, topK, topP) {
  let kept = order(p);
  if (topK > 0) kept = kept.slice(0, topK);
  if (topP < 1) {
    const goal = topP * kept.reduce((sum, id) => sum + p[id], 0);
    let sum = 0;
    const enough = kept.findIndex((id) => (sum += p[id]) >= goal);
    if (enough >= 0) kept = kept.slice(0, enough + 1);
  }
  const out = new Float64Array(p.length);
  for (const id of kept) out[id] = p[id];
  return normalise(out);
}

// pick is the character at which the running sum passes u, a number in [0, 1).
function pick(p, u) {
  let last = 0;
  for (let id = 0; id < p.length; id++) {
    if (p[id] === 0) continue;
    last = id;
    u -= p[id];
    if (u < 0) break;
  }
  return last;
}

// generator is mulberry32: the same seed gives the same numbers in [0, 1) in every browser. What its state returns is the
// seed of a generator that goes on from there.
function generator(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  next.state = () => state;
  return next;
}
