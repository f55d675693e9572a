// The slider over training steps of a probe: the same text, seen by the same model while it was learning.

const FRAME = 450; // milliseconds that a step is shown while playing

function createProbe(app) {
  const { source } = app;
  const { steps } = source.capabilities;
  const slider = byId("training-step");
  let timer = 0; // 0 while it does not play

  async function show(i) {
    slider.value = i;
    byId("training-now").textContent = `${steps[i]} (${i + 1} of ${steps.length})`;
    source.select(i);
    app.setTrace(await source.forward(app.state.trace.tokens));
  }

  function advance() {
    const next = Number(slider.value) + 1;
    if (next >= steps.length) return stop();
    show(next);
  }

  function play() {
    if (timer !== 0) return stop();
    if (Number(slider.value) === steps.length - 1) show(0);
    timer = setInterval(advance, FRAME);
    label("❚❚", "Pause");
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    label("▶", "Play the training");
  }

  function label(sign, words) {
    byId("play").textContent = sign;
    byId("play").setAttribute("aria-label", words);
  }

  if (steps.length > 0) {
    byId("probe").hidden = false;
    slider.max = steps.length - 1;
    slider.value = steps.length - 1;
    byId("training-now").textContent = `${steps.at(-1)} (${steps.length} of ${steps.length})`;
    slider.addEventListener("input", () => {
      stop();
      show(Number(slider.value));
    });
    byId("play").addEventListener("click", play);
  }
  return { paint() {} };
}
