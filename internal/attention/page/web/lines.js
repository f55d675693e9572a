// The lines from a query to its keys, drawn behind the characters of the text. There is one line for every key that the
// query may look at: i+1 of them for query i, however small the weight; thickness and colour tell the weight.

// boxesOf measures the characters, relative to the text: (T) of {x, top, bottom}.
function boxesOf(tokens) {
  return tokens.map((node) => ({
    x: node.offsetLeft + node.offsetWidth / 2,
    top: node.offsetTop,
    bottom: node.offsetTop + node.offsetHeight,
  }));
}

// pathOf leads from the top of the query to a key: an arch in the same row, an S to the row of the key otherwise.
function pathOf(query, key) {
  if (query === key) {
    const { x, top } = query;
    return `M${x - 4} ${top} C${x - 11} ${top - 13} ${x + 11} ${top - 13} ${x + 4} ${top}`;
  }
  if (query.top === key.top) {
    const lift = query.top - Math.min(22, 7 + Math.abs(query.x - key.x) * 0.12);
    return `M${query.x} ${query.top} C${query.x} ${lift} ${key.x} ${lift} ${key.x} ${key.top}`;
  }
  const bend = Math.max(14, (query.top - key.bottom) / 2);
  return `M${query.x} ${query.top} C${query.x} ${query.top - bend} ${key.x} ${key.bottom + bend} ${key.x} ${key.bottom}`;
}

// drawLines replaces the lines by those of one query; weights is its row (i+1). The heaviest end on top.
function drawLines(root, boxes, weights, scale) {
  const query = boxes[weights.length - 1];
  const lines = order(weights).reverse().map((j) => {
    const weight = weights[j];
    const line = svg("path", { class: "line", d: pathOf(query, boxes[j]), "data-key": j, "data-weight": weight });
    line.style.stroke = scale.css(Math.max(weight, 0.04));
    line.style.strokeWidth = `${0.6 + 6.5 * weight}px`;
    line.style.strokeOpacity = `${0.1 + 0.9 * Math.min(1, 3 * shade(weight))}`;
    return line;
  });
  root.replaceChildren(...lines);
}
