// Heat maps of a head: rows are queries, columns keys. What lies above the diagonal is the future and stays transparent.

// drawHeat paints (T, T) weights on size × size pixels. When pixels are fewer than tokens, each shows the largest of its
// weights: a mean would lose a thin line such as "looks at the previous character".
function drawHeat(canvas, head, T, scale, size) {
  const S = Math.min(T, size);
  const top = pooled(head, T, S); // (S, S)
  if (canvas.width !== S) canvas.width = canvas.height = S;
  const context = canvas.getContext("2d");
  const image = context.createImageData(S, S); // transparent
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < S * S; at++) {
    if (top[at] >= 0) pixels[at] = scale.pixel(top[at]);
  }
  context.putImageData(image, 0, 0);
}

// pooled is the largest weight in each cell of an S × S picture; -1 where there is none. (S, S)
function pooled(head, T, S) {
  const out = new Float32Array(S * S).fill(-1);
  const cell = Int32Array.from({ length: T }, (_, i) => Math.floor((i * S) / T)); // (T)
  for (let i = 0, from = 0; i < T; i++) {
    const row = cell[i] * S;
    for (let j = 0; j <= i; j++, from++) {
      const at = row + cell[j];
      if (head.weights[from] > out[at]) out[at] = head.weights[from];
    }
  }
  return out;
}
