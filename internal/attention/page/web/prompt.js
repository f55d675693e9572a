// The prompt: shown as it was recorded, or typed, with sampling that continues it. The sampler runs here, on the
// distribution of the last trace; the source only answers forward.

const TYPING_PAUSE = 120; // milliseconds after the last key before the source is asked

// The knobs of sampling: the ids of their boxes, what is used at first, and what a number must be.
const KNOBS = [
  { id: "top-k", use: 0, range: "a whole number from 0", allows: (x) => Number.isSafeInteger(x) && x >= 0 },
  { id: "top-p", use: 1, range: "over 0 and at most 1", allows: (x) => x > 0 && x <= 1 },
  {
    id: "seed",
    use: 1,
    range: "a whole number from 0 to 4294967295",
    allows: (x) => Number.isInteger(x) && x >= 0 && x < 2 ** 32,
  },
];

// shown is a text as a box has it: HTML makes one line feed of CR LF, and of a CR alone.
const shown = (text) => text.replace(/\r\n?/g, "\n");

// placeOf is where a place of shown(text) is in text.
function placeOf(text, at) {
  let place = 0;
  for (; at > 0; at--) place += text.startsWith("\r\n", place) ? 2 : 1;
  return place;
}

// withLineEnds is the text of a box with the line ends of a model's characters: a model that has CR learned from a text
// of CR LF lines (or of CR lines, if it has no LF), which no keyboard can type into a box.
function withLineEnds(text, ids) {
  if (!ids.has("\r")) return text;
  return text.replaceAll("\n", ids.has("\n") ? "\r\n" : "\r");
}

// idsOf turns a text into ids, known, and says which characters the vocabulary lacks, complaint: "" if there is none.
function idsOf(text, ids) {
  const known = [];
  const unknown = new Set();
  for (const char of text) {
    if (ids.has(char)) known.push(ids.get(char));
    else unknown.add(char);
  }
  const names = [...unknown].map((char) => `“${visible(char)}” (${codePoint(char)})`);
  const complaint = names.length === 0 ? "" : `Not in this model's vocabulary, ignored: ${names.join(", ")}`;
  return { known: Int32Array.from(known), complaint };
}

const codePoint = (char) => `U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
const visible = (char) => (/[\p{C}\p{Z}\p{M}]/u.test(char) ? "\u25a1" : char);

function createPrompt(app) {
  const { source } = app;
  const box = byId("prompt");
  let text = ""; // the prompt; the box shows it, but makes one line feed of every line end
  let tokens = new Int32Array(0); // all ids, of which the last block_size are the model's window
  let room = tokens; // the memory that tokens are the first part of
  let ids = new Map(); // character -> id
  let asked = null; // AbortController of the last request
  let answered = null; // the tokens of the trace on show
  let timer = 0;
  let random = generator(1);
  let running = null; // the run that is under way: an object of its own
  let sampled = ""; // characters that are not in the text and the box yet
  let rate = ""; // of sampling, for people
  const used = Object.fromEntries(KNOBS.map(({ id, use }) => [id, use])); // the last values that made sense

  // edited is the text after the box changed: what the reader left alone stays as it was given or sampled, and what is
  // new in the box has the line ends of the model's text.
  function edited() {
    const [was, now] = [shown(text), box.value];
    let start = 0;
    while (start < Math.min(was.length, now.length) && was[start] === now[start]) start++;
    let rest = 0;
    while (rest < Math.min(was.length, now.length) - start && was.at(-1 - rest) === now.at(-1 - rest)) rest++;
    const fresh = withLineEnds(now.slice(start, now.length - rest), ids);
    const merged = text.slice(0, placeOf(text, start)) + fresh + text.slice(placeOf(text, was.length - rest));
    return shown(merged) === now ? merged : withLineEnds(now, ids);
  }

  // read turns the text into ids, and names the characters that the vocabulary lacks.
  function read() {
    const { known, complaint } = idsOf(text, ids);
    tokens = room = known;
    say(complaint);
  }

  // append adds a token. Those that were there stay where they are: a text may have very many of them.
  function append(id) {
    const n = tokens.length;
    if (n === room.length) {
      room = new Int32Array(2 * n + 64);
      room.set(tokens);
    }
    room[n] = id;
    tokens = room.subarray(0, n + 1);
  }

  function say(text, isError = false) {
    byId("message").textContent = text;
    byId("message").hidden = text === "";
    byId("message").classList.toggle("error", isError);
  }

  // ask shows a new trace of the tokens. The last request wins: an earlier one is aborted, and its answer ignored.
  async function ask(plan) {
    clearTimeout(timer);
    asked?.abort();
    const mine = (asked = new AbortController());
    const now = tokens;
    if (now.length === 0) return app.set({ trace: null });
    try {
      const trace = await source.forward(now, mine.signal, plan);
      if (mine !== asked) return;
      answered = now;
      app.setTrace(trace);
    } catch (problem) {
      if (mine !== asked) return;
      halt();
      say(problem.message, true);
    }
  }

  function typed() {
    sampled = ""; // it is not in the text that the reader saw, and typed into
    text = edited();
    halt();
    random = generator(used.seed);
    read();
    asked?.abort();
    clearTimeout(timer);
    timer = setTimeout(ask, TYPING_PAUSE);
  }

  // step samples one character and waits for its trace, and for the trace before it if that is still under way. It
  // reports whether there was a distribution to sample from, and nobody typed meanwhile.
  async function step() {
    if (answered !== tokens) await ask();
    if (answered !== tokens) return false;
    const { trace, temperature, topK, topP } = app.state;
    const id = pick(filter(sharpen(trace.next, temperature), topK, topP), random());
    append(id);
    sampled += source.vocab.chars[id];
    const mine = tokens;
    await ask(running ? { temperature, topK, topP, seed: random.state() } : undefined);
    return answered === mine;
  }

  async function run() {
    const mine = (running = {});
    buttons();
    const begin = performance.now();
    for (let n = 1; running === mine && (await step()); n++) {
      rate = `${((1000 * n) / (performance.now() - begin)).toFixed(0)} characters/s`;
    }
    if (running === mine) halt();
  }

  function halt() {
    running = null;
    flush();
    buttons();
  }

  // flush shows what was sampled since the last paint: to touch the page with every character would have the browser
  // lay it out and paint it as often.
  function flush() {
    if (sampled === "") return;
    text += sampled;
    sampled = "";
    box.value = shown(text);
    byId("rate").textContent = rate;
    box.scrollTop = box.scrollHeight;
  }

  // buttons are those of use now. One that goes out of use gives the keyboard's focus to the one that takes its place.
  function buttons() {
    const focused = document.activeElement;
    byId("run").disabled = byId("step").disabled = Boolean(running);
    byId("stop").disabled = !running;
    if (running && focused === byId("run")) byId("stop").focus();
    if (!running && focused === byId("stop")) byId("run").focus();
    app.set({ sampling: Boolean(running) });
  }

  // open changes the model and reads the text again with its vocabulary.
  async function open(id) {
    halt();
    clearTimeout(timer);
    asked?.abort();
    const mine = (asked = new AbortController());
    try {
      await source.open(id, mine.signal);
    } catch (problem) {
      if (mine === asked) say(problem.message, true);
      return;
    }
    if (mine !== asked) return;
    answered = null;
    const first = ids.size === 0;
    ids = new Map(source.vocab.chars.map((char, id) => [char, id]));
    if (!first) text = withLineEnds(box.value, ids);
    app.setConfig();
    read();
    await ask();
  }

  function startTyping() {
    const { checkpoints, canSample } = source.capabilities;
    byId("live").hidden = false;
    byId("checkpoint-field").hidden = checkpoints.length < 2;
    const options = checkpoints.map(({ id, name }) => el("option", { value: id, textContent: name }));
    byId("checkpoint").replaceChildren(...options);
    for (const id of ["step", "run", "stop"]) byId(id).hidden = !canSample;
    box.value = text = source.prompt;
    box.addEventListener("input", typed);
    byId("checkpoint").addEventListener("change", (event) => open(event.target.value));
    byId("step").addEventListener("click", step);
    byId("run").addEventListener("click", run);
    byId("stop").addEventListener("click", halt);
    for (const { id } of KNOBS) {
      byId(id).value = used[id]; // a browser may remember another one
      byId(id).addEventListener("input", turn);
    }
    return open(checkpoints[0]?.id);
  }

  // turn takes the number of a knob's box. One that makes no sense changes nothing, and is marked.
  function turn({ target }) {
    const { id } = target;
    const value = Number(target.value);
    const makesSense = target.value.trim() !== "" && KNOBS.find((knob) => knob.id === id).allows(value);
    target.setAttribute("aria-invalid", !makesSense);
    if (makesSense) {
      used[id] = value;
      if (id === "seed") random = generator(value);
      app.set({ topK: used["top-k"], topP: used["top-p"] });
    }
    const wrong = KNOBS.filter((knob) => byId(knob.id).ariaInvalid === "true");
    byId("knob-message").hidden = wrong.length === 0;
    const sentences = wrong.map((knob) => `${knob.id} must be ${knob.range}; ${used[knob.id]} is used.`);
    byId("knob-message").textContent = sentences.join(" ");
  }

  async function showRecorded() {
    app.setConfig();
    app.setTrace(await source.forward(tokens));
    app.set({ other: source.other });
  }

  function paint({ trace }, changed) {
    if (!changed.has("trace")) return;
    flush();
    if (!source.capabilities.canType) {
      byId("recorded").hidden = false;
      byId("recorded").replaceChildren(...trace.labels.flatMap((label, i) => charWithBreak(trace, label, i)));
    }
    byId("window").textContent = trace ? windowOf(trace) : "Type something to see what the model makes of it.";
  }

  // charWithBreak is a character of the recorded prompt; a newline also breaks the line, so that text looks like text.
  function charWithBreak(trace, label, i) {
    const char = source.vocab.chars[trace.tokens[i]];
    const node = charOf(label, label === char ? "char" : "char stand-in");
    return char === "\n" ? [node, el("br")] : [node];
  }

  function windowOf({ tokens: { length }, dropped }) {
    const { block_size } = source.config;
    const verb = dropped === 1 ? "was" : "were";
    const cut = dropped > 0 ? ` The first ${plural(dropped, "character")} came before it and ${verb} left out.` : "";
    return `${length} of ${plural(block_size, "character")} in the model's window.${cut}`;
  }

  return { paint, start: source.capabilities.canType ? startTyping : showRecorded };
}
