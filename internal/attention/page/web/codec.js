// Decoding of what page/wire.go writes: integers with one float32 scale a row, little-endian, in base64.

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const floatsOf = (base64) => new Float32Array(bytesOf(base64).buffer);

function intsOf(base64, bits, signed) {
  const { buffer } = bytesOf(base64);
  if (bits === 8) return signed ? new Int8Array(buffer) : new Uint8Array(buffer);
  return signed ? new Int16Array(buffer) : new Uint16Array(buffer);
}

// expand gives the numbers of a quantised matrix back, row after row; row i has lengthOf(i) of them.
function expand(rows, bits, signed, lengthOf) {
  const ints = intsOf(rows.ints, bits, signed);
  const scale = floatsOf(rows.scale); // (T)
  const out = new Float32Array(ints.length);
  for (let i = 0, at = 0; i < scale.length; i++) {
    for (const end = at + lengthOf(i); at < end; at++) out[at] = ints[at] * scale[i];
  }
  return out;
}

// lazily makes an object whose properties are computed when they are first read: most heads are never opened.
function lazily(makers) {
  const object = {};
  for (const [name, make] of Object.entries(makers)) {
    Object.defineProperty(object, name, {
      configurable: true,
      enumerable: true,
      get() {
        const value = make();
        Object.defineProperty(object, name, { value });
        return value;
      },
    });
  }
  return object;
}

// decodeTrace turns a wireTrace into the Trace that source.js describes.
function decodeTrace(wire, config) {
  const { bits } = wire;
  const vectors = (rows) => expand(rows, bits.vectors, true, () => config.head_size); // (T, HS)
  return {
    step: wire.step,
    dropped: wire.dropped,
    tokens: Int32Array.from(wire.tokens),
    labels: wire.labels,
    bits,
    heads: wire.heads.map((layer) =>
      layer.map((head) =>
        lazily({
          weights: () => expand(head.weights, bits.weights, false, (i) => i + 1), // (T·(T+1)/2)
          halfSteps: () => floatsOf(head.weights.scale).map((scale) => scale / 2), // (T)
          q: () => vectors(head.q),
          k: () => vectors(head.k),
          v: () => vectors(head.v),
        }),
      ),
    ),
    next: floatsOf(wire.next),
    bigram: floatsOf(wire.bigram),
  };
}
