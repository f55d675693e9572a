// The arithmetic of the forward pass, on Float32Arrays in rows; sums are float64, as JavaScript has them. The loops compute
// a few outputs side by side: each number that they load is used more than once, and no sum waits for another.

// linear is y = x Wᵀ + b: x (T, I), w (O, I) with the weights of an output in a row, b (O) or undefined -> (T, O).
function linear(x, w, b, I, O) {
  const T = x.length / I;
  const y = new Float32Array(T * O);
  const paired = T - (T % 2);
  for (let o = 0; paired > 0 && o < O; o += 4) {
    const n = Math.min(4, O - o); // outputs: the same few rows of w meet every token
    for (let t = 0; t < paired; t += 2) productsOfTwo(y, t * O + o, O, x, t * I, w, o * I, I, n);
  }
  if (paired < T) products(y, paired * O, x, paired * I, w, 0, I, I, O);
  if (b) addToRows(y, b);
  return y;
}

// products is y[o] = x · row o of w, for O rows that are stride apart: x (I), w (O, I) -> y (O), each from its offset.
function products(y, yAt, x, xAt, w, wAt, stride, I, O) {
  let o = 0;
  for (; o + 8 <= O; o += 8) productsOfEight(y, yAt + o, x, xAt, w, wAt + o * stride, stride, I);
  for (; o + 4 <= O; o += 4) {
    const r0 = wAt + o * stride;
    const r1 = r0 + stride;
    const r2 = r1 + stride;
    const r3 = r2 + stride;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < I; i++) {
      const v = x[xAt + i];
      a += v * w[r0 + i];
      b += v * w[r1 + i];
      c += v * w[r2 + i];
      d += v * w[r3 + i];
    }
    y[yAt + o] = a;
    y[yAt + o + 1] = b;
    y[yAt + o + 2] = c;
    y[yAt + o + 3] = d;
  }
  for (; o < O; o++) {
    const row = wAt + o * stride;
    let sum = 0;
    for (let i = 0; i < I; i++) sum += x[xAt + i] * w[row + i];
    y[yAt + o] = sum;
  }
}

// productsOfEight is products for eight rows of w.
function productsOfEight(y, yAt, x, xAt, w, wAt, stride, I) {
  const r1 = wAt + stride;
  const r2 = r1 + stride;
  const r3 = r2 + stride;
  const r4 = r3 + stride;
  const r5 = r4 + stride;
  const r6 = r5 + stride;
  const r7 = r6 + stride;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let e = 0;
  let f = 0;
  let g = 0;
  let h = 0;
  for (let i = 0; i < I; i++) {
    const v = x[xAt + i];
    a += v * w[wAt + i];
    b += v * w[r1 + i];
    c += v * w[r2 + i];
    d += v * w[r3 + i];
    e += v * w[r4 + i];
    f += v * w[r5 + i];
    g += v * w[r6 + i];
    h += v * w[r7 + i];
  }
  y[yAt] = a;
  y[yAt + 1] = b;
  y[yAt + 2] = c;
  y[yAt + 3] = d;
  y[yAt + 4] = e;
  y[yAt + 5] = f;
  y[yAt + 6] = g;
  y[yAt + 7] = h;
}

// productsOfTwo is products for two tokens, x and the row after it, and up to four rows of w.
function productsOfTwo(y, yAt, O, x, xAt, w, wAt, I, n) {
  const xNext = xAt + I;
  if (n < 4) {
    products(y, yAt, x, xAt, w, wAt, I, I, n);
    products(y, yAt + O, x, xNext, w, wAt, I, I, n);
    return;
  }
  const r1 = wAt + I;
  const r2 = r1 + I;
  const r3 = r2 + I;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let e = 0;
  let f = 0;
  let g = 0;
  let h = 0;
  for (let i = 0; i < I; i++) {
    const v = x[xAt + i];
    const u = x[xNext + i];
    const w0 = w[wAt + i];
    const w1 = w[r1 + i];
    const w2 = w[r2 + i];
    const w3 = w[r3 + i];
    a += v * w0;
    b += v * w1;
    c += v * w2;
    d += v * w3;
    e += u * w0;
    f += u * w1;
    g += u * w2;
    h += u * w3;
  }
  y[yAt] = a;
  y[yAt + 1] = b;
  y[yAt + 2] = c;
  y[yAt + 3] = d;
  y[yAt + O] = e;
  y[yAt + O + 1] = f;
  y[yAt + O + 2] = g;
  y[yAt + O + 3] = h;
}

// addToRows adds b (I) to every row of y (T, I).
function addToRows(y, b) {
  for (let at = 0; at < y.length; at += b.length) {
    for (let i = 0; i < b.length; i++) y[at + i] += b[i];
  }
}

// add is x + y, in y's memory: how a branch writes into the residual stream.
function add(x, y) {
  for (let i = 0; i < y.length; i++) y[i] += x[i];
  return y;
}

// layerNorm normalises every row (Ba et al. 2016, eq. 4): (x − mean) / √(variance + 1e-5) · gain + bias.
// x (T, C), gain (C), bias (C) or undefined -> (T, C)
function layerNorm(x, gain, bias) {
  const C = gain.length;
  const y = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += C) {
    let mean = 0;
    for (let c = 0; c < C; c++) mean += x[at + c] / C;
    let variance = 0;
    for (let c = 0; c < C; c++) variance += (x[at + c] - mean) ** 2 / C;
    const scale = 1 / Math.sqrt(variance + 1e-5);
    for (let c = 0; c < C; c++) y[at + c] = (x[at + c] - mean) * scale * gain[c] + (bias ? bias[c] : 0);
  }
  return y;
}

// gelu is x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))) (Hendrycks and Gimpel 2016), in x's memory; (1 + tanh(u))/2 is
// 1/(1 + e^(−2u)).
function gelu(x) {
  const twice = 2 * Math.sqrt(2 / Math.PI);
  for (let i = 0; i < x.length; i++) {
    const v = x[i];
    x[i] = v / (1 + Math.exp(-twice * (v + 0.044715 * v * v * v)));
  }
  return x;
}

// softmax turns x (n) into shares: e^(scale·x), divided by the sum of all.
function softmax(x, scale) {
  let top = -Infinity;
  for (let i = 0; i < x.length; i++) top = Math.max(top, x[i]);
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] = Math.exp(scale * (x[i] - top));
  for (let i = 0; i < x.length; i++) x[i] /= sum;
}

// mix adds Σ_j shares[j] · row j of values to y (I), for rows that are stride apart, each from its offset.
function mix(y, yAt, shares, values, valuesAt, stride, I) {
  let j = 0;
  for (; j + 4 <= shares.length; j += 4) {
    const a = shares[j];
    const b = shares[j + 1];
    const c = shares[j + 2];
    const d = shares[j + 3];
    const r0 = valuesAt + j * stride;
    const r1 = r0 + stride;
    const r2 = r1 + stride;
    const r3 = r2 + stride;
    for (let i = 0; i < I; i++) {
      y[yAt + i] += a * values[r0 + i] + b * values[r1 + i] + c * values[r2 + i] + d * values[r3 + i];
    }
  }
  for (; j < shares.length; j++) {
    const share = shares[j];
    const row = valuesAt + j * stride;
    for (let i = 0; i < I; i++) y[yAt + i] += share * values[row + i];
  }
}
