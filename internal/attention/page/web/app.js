// The program: one state, a few views that paint it, and a source of numbers.

function start() {
  const data = JSON.parse(byId("data").textContent);
  const app = {
    source: makeSource(data),
    state: {
      trace: null, // the Trace on show
      other: null, // the Trace to compare it with
      layer: data.view.layer,
      head: data.view.head,
      query: 0, // position in the trace
      key: null, // the key under the pointer, or null
      locked: false, // does the query stay when the pointer moves on?
      sampling: false, // are characters sampled, one after the other?
      temperature: 1,
      topK: 0,
      topP: 1,
      scale: makeScale(isDark()),
    },
    set,
    setTrace,
    setConfig,
  };

  function set(patch) {
    for (const [name, value] of Object.entries(patch)) {
      if (app.state[name] === value) continue;
      app.state[name] = value;
      for (const painter of painters) painter.note(name);
    }
  }

  // settle tells tools that read the page whether it shows its state.
  const settle = () => document.body.setAttribute("aria-busy", painters.some((painter) => painter.isDue()));

  // setTrace keeps the reader's place: a locked query stays, a free one goes to the character that predicts the next.
  function setTrace(trace) {
    const last = trace.tokens.length - 1;
    const { query, locked } = app.state;
    const same = app.state.trace?.tokens.length === trace.tokens.length && !app.source.capabilities.canType;
    const keep = (locked && query <= last) || same;
    set({ trace, query: keep ? query : last, key: keep ? app.state.key : null, locked: locked && keep });
  }

  // setConfig tells the views that the source's model is another one.
  function setConfig() {
    const { config } = app.source;
    set({
      trace: null,
      other: null,
      config,
      layer: Math.min(app.state.layer, Math.max(0, config.n_layer - 1)),
      head: Math.min(app.state.head, config.n_head - 1),
    });
  }

  const head = createHead(app);
  const prompt = createPrompt(app);
  const words = [createHeader(app), prompt, createNext(app)];
  const pictures = [createProbe(app), createGrid(app), head, createMatrix(app, head.tipOf), createSteps(app), createCompare(app)];
  const painters = [words, pictures].map((views) => createPainter(app.state, views, settle));
  document.body.classList.add(app.source.capabilities.canType ? "typed" : "recorded");
  prompt.start();
}

// isDark tells the theme: the reader's choice on this page, or else the system's.
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// createHeader shows what model this is, and switches between light and dark.
function createHeader(app) {
  const button = byId("theme");

  function theme() {
    app.set({ scale: makeScale(isDark()) });
    button.textContent = isDark() ? "☀ Light" : "☾ Dark";
    drawLegend(app.state.scale);
  }

  function paint({ trace }, changed) {
    if (!changed.has("trace")) return;
    const c = app.source.config;
    const facts = [
      app.source.name,
      trace ? `step ${trace.step.toLocaleString("en")}` : "",
      `${plural(c.n_layer, "layer")} × ${plural(c.n_head, "head")} of ${c.head_size}`,
      `${c.n_embd} channels`,
      `window ${c.block_size}`,
      `${plural(c.vocab_size, "character")}`,
      c.position ? `${c.position} positions` : "",
      app.source.parameters ? `${app.source.parameters.toLocaleString("en")} parameters` : "",
    ];
    byId("facts").textContent = facts.filter((fact) => fact !== "").join(" · ");
  }

  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    theme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
  button.textContent = isDark() ? "☀ Light" : "☾ Dark";
  byId("note").hidden = !app.source.note;
  byId("note").textContent = app.source.note ?? "";
  drawLegend(app.state.scale);
  return { paint };
}

start();
