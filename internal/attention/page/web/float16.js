// Weights travel as float16 (IEEE 754 binary16) and are widened once: page/half.go is the other half.

// widened gives the number of every float16: (65536), by its bits.
function widened() {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) table[bits] = sign * fraction * 2 ** -24;
    else if (exponent === 31) table[bits] = fraction ? NaN : sign * Infinity;
    else table[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return table;
}

// halvesOf reads little-endian float16 numbers in base64.
function halvesOf(base64) {
  const table = widened();
  const halves = new Uint16Array(bytesOf(base64).buffer);
  const out = new Float32Array(halves.length);
  for (let i = 0; i < out.length; i++) out[i] = table[halves[i]];
  return out;
}

// parametersOf names the tensors of a model, {data, shape} each: views, one after the other, of its weights.
function parametersOf(network) {
  const weights = halvesOf(network.weights);
  const parameters = {};
  let at = 0;
  for (const { name, shape } of network.parameters) {
    const size = shape.reduce((product, n) => product * n);
    parameters[name] = { data: weights.subarray(at, at + size), shape };
    at += size;
  }
  return parameters;
}
