// Arithmetic on traces. T is the number of tokens, HS the size of a head, V of the vocabulary.

// rowOf is the weights of query i onto its keys 0 to i: (i+1), a view into the lower triangle.
function rowOf(head, i) {
  const start = (i * (i + 1)) / 2;
  return head.weights.subarray(start, start + i + 1);
}

// vectorOf is row i of a (T, HS) matrix: (HS).
const vectorOf = (matrix, i, size) => matrix.subarray(i * size, (i + 1) * size);

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

const norm = (a) => Math.sqrt(dot(a, a));

const largestOf = (values) => values.reduce((top, x) => Math.max(top, Math.abs(x)), 0);

// weightedSum is Σ_j weights[j] · row j of values: a head's output for one query (HS).
function weightedSum(weights, values, size) {
  const out = new Float32Array(size);
  weights.forEach((w, j) => {
    for (let c = 0; c < size; c++) out[c] += w * values[j * size + c];
  });
  return out;
}

// order is the indices of values from the largest to the smallest; equal ones keep their order.
const order = (values) => Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);

function entropy(p) {
  let nats = 0;
  for (const x of p) if (x > 0) nats -= x * Math.log(x);
  return nats;
}

// divergence is KL(p‖q) in nats: what p tells about the next character and q does not.
function divergence(p, q) {
  let nats = 0;
  p.forEach((x, i) => {
    if (x > 0) nats += x * Math.log(x / q[i]);
  });
  return Math.max(0, nats);
}

const bits = (nats) => nats / Math.LN2;

// summarise measures a head as attention.Summarise does: means over the queries 1 to T-1, since query 0 has no choice.
function summarise(head, tokens) {
  const s = { entropy: 0, distance: 0, previous: 0, first: 0, same: 0, self: 0 };
  for (let i = 1; i < tokens.length; i++) {
    const row = rowOf(head, i);
    s.entropy += entropy(row);
    s.previous += row[i - 1];
    s.first += row[0];
    s.self += row[i];
    for (let j = 0; j < i; j++) {
      s.distance += row[j] * (i - j);
      if (tokens[j] === tokens[i]) s.same += row[j];
    }
  }
  for (const name of Object.keys(s)) s[name] /= Math.max(1, tokens.length - 1);
  return s;
}
