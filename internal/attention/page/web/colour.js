// The colour scale of attention weights: viridis, whose lightness rises evenly, so that colour-blind people and grey
// printers can read it. 0 is the page's own background and 1 the end that stands out from it, in light and in dark.

const VIRIDIS = [
  [0x44, 0x01, 0x54], [0x48, 0x28, 0x78], [0x3e, 0x4a, 0x89], [0x31, 0x68, 0x8e], [0x26, 0x82, 0x8e],
  [0x1f, 0x9e, 0x89], [0x35, 0xb7, 0x79], [0x6d, 0xcd, 0x59], [0xb4, 0xde, 0x2c], [0xfd, 0xe7, 0x25],
];
const FADE = 0.14; // up to this shade the colour is mixed with the background

const mix = (a, b, t) => a.map((x, c) => x + (b[c] - x) * t); // (3), (3) -> (3)

function viridis(x) {
  const at = Math.min(1, Math.max(0, x)) * (VIRIDIS.length - 1);
  const i = Math.min(Math.floor(at), VIRIDIS.length - 2);
  return mix(VIRIDIS[i], VIRIDIS[i + 1], at - i);
}

// shade is where a weight lies on the scale: its square root, since attention over many keys is mostly small weights.
const shade = (weight) => Math.sqrt(Math.min(1, Math.max(0, weight)));

// makeScale tabulates the scale for a theme.
function makeScale(dark) {
  const background = dark ? [0x16, 0x1a, 0x22] : [0xff, 0xff, 0xff];
  const pixels = new Uint8ClampedArray(256 * 4).fill(255); // (256, RGBA)
  for (let i = 0; i < 256; i++) {
    const u = i / 255;
    const colour = viridis(dark ? u : 1 - u);
    pixels.set(u < FADE ? mix(background, colour, u / FADE) : colour, 4 * i);
  }
  const whole = new Uint32Array(pixels.buffer); // (256), as canvases want them
  const at = (weight) => Math.round(255 * shade(weight));
  const rgb = (weight) => Array.from(pixels.subarray(4 * at(weight), 4 * at(weight) + 3));
  return {
    rgb,
    pixel: (weight) => whole[at(weight)],
    css: (weight) => `rgb(${rgb(weight).join(" ")})`,
    ink: (weight) => inkOn(rgb(weight)),
  };
}

// inkOn is black or white, whichever contrasts more with a background.
function inkOn(rgb) {
  const light = luminance(rgb);
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000" : "#fff";
}

// luminance is WCAG's relative luminance.
function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// drawLegend paints the scale from 0 to 1, and puts ticks where weights lie on it.
function drawLegend(scale) {
  const canvas = byId("legend");
  const context = canvas.getContext("2d");
  for (let x = 0; x < canvas.width; x++) {
    context.fillStyle = scale.css((x / (canvas.width - 1)) ** 2);
    context.fillRect(x, 0, 1, 1);
  }
  byId("legend-ticks").replaceChildren(
    ...[0, 0.01, 0.05, 0.1, 0.25, 0.5, 1].map((weight) => {
      const tick = el("span", { textContent: `${100 * weight}` + (weight === 1 ? " %" : "") });
      tick.style.left = `${100 * shade(weight)}%`;
      return tick;
    }),
  );
}
