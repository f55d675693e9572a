// The program of the Web Worker: it holds the model and answers one request after the other. Messages to it:
//
//   {network, config}    the model, first of all; answered by {ready}
//   {id, tokens, plan}   a request: at most block_size ids, Int32Array; plan is undefined or that of source.js
//   {abort: id}          nobody waits any more for that request, or for what was planned with it
//   {used: id}           a guess of that request's plan was right, and is used
//
// Messages from it:
//
//   {from, records}      what gpt.forward recorded of the tokens from a position on; those before it stay as they were
//   {id, next}           the answer: next (V), after all records of its tokens
//   {id, guess, next}    of a request with a plan, once answered: the tokens that will be asked for next, and their answer
//   {id, error}, {error} what went wrong, of a request or of the model
//
// What two prompts have in common at their start is computed once: a sampled or typed character costs one token, as long
// as the window does not slide. Guesses go on while the page paints, which is slow, so that nobody waits for the other.

const CHUNK = 16; // tokens that pass through the model together
const AHEAD = 256; // guesses that are not used yet, at most
const TRUST = 300; // milliseconds for which guessing goes on while none is used
const WARMTH = 150; // milliseconds of exercise before the first request
const PATIENCE = 30; // milliseconds of work between two looks at the messages

let gpt = null;
let known = new Int32Array(0); // the tokens of gpt's sequence
let ahead = null; // the plan of the last request: {id, plan, tokens, next, random, unused, heard}
let working = false;
const requests = []; // the oldest first

onmessage = ({ data: message }) => {
  if (message.network) return guarded({}, () => load(message));
  if (message.abort !== undefined) abort(message.abort);
  else if (message.used !== undefined) use(message.used);
  else requests.push(message);
  if (!working) work();
};

function abort(id) {
  for (const request of requests) request.aborted ||= request.id === id;
  if (ahead?.id === id) ahead = null;
}

function use(id) {
  if (ahead?.id !== id) return;
  ahead.unused--;
  ahead.heard = performance.now();
}

function load({ network, config }) {
  gpt = new GPT({ ...config, tied: network.tied, attn_only: network.attn_only }, parametersOf(network));
  exercise(gpt);
  postMessage({ ready: true });
}

// exercise runs a model for the browser's compiler to find out what matters: the first seconds would be slow otherwise.
function exercise(gpt) {
  const end = performance.now() + WARMTH;
  while (performance.now() < end) {
    if (gpt.length === Math.min(gpt.config.block_size, 64)) gpt.forget(0);
    gpt.forward(Int32Array.of(0), true);
  }
  gpt.forget(0);
}

// guarded answers with an error where f fails.
async function guarded(answer, f) {
  try {
    await f();
  } catch (problem) {
    postMessage({ ...answer, error: problem.message });
  }
}

// work answers all requests, then goes on with the plan of the last one as far as it may.
async function work() {
  working = true;
  while (requests.length > 0 || mayGuess()) {
    if (requests.length === 0) {
      await guess(ahead);
      await pause();
      continue;
    }
    const [request] = requests;
    ahead = null;
    await guarded({ id: request.id }, () => answer(request));
    requests.shift();
  }
  working = false;
}

async function answer(request) {
  const { id, tokens, plan } = request;
  const next = await pass(tokens, () => request.aborted);
  if (!next) return;
  postMessage({ id, next });
  if (plan) ahead = { id, plan, tokens, next, random: generator(plan.seed), unused: 0, heard: performance.now() };
}

const mayGuess = () =>
  ahead && ahead.unused < AHEAD && (ahead.unused === 0 || performance.now() - ahead.heard < TRUST);

// guess samples the next character as the page will, and answers before it asks. A guess that fails is left to the request.
async function guess(mine) {
  const { id, plan, random } = mine;
  const char = pick(filter(sharpen(mine.next, plan.temperature), plan.topK, plan.topP), random());
  mine.tokens = Int32Array.of(...mine.tokens, char).slice(-gpt.config.block_size);
  try {
    mine.next = await pass(mine.tokens, () => ahead !== mine || requests.length > 0);
  } catch {
    mine.next = null;
  }
  if (!mine.next) {
    ahead = ahead === mine ? null : ahead;
    return postMessage({ id, guess: null });
  }
  mine.unused++;
  postMessage({ id, guess: mine.tokens, next: mine.next });
}

// pass sends what is new of the tokens through the model: at least the last, whose successor's distribution it returns, (V).
// It returns nothing when abandoned says so on the way.
async function pass(tokens, abandoned) {
  let begin = performance.now();
  let at = Math.min(commonStart(known, tokens), tokens.length - 1);
  while (!abandoned()) {
    const end = Math.min(at + CHUNK, tokens.length);
    gpt.forget(at);
    known = tokens.subarray(0, at);
    const { records, next } = gpt.forward(tokens.subarray(at, end), end === tokens.length);
    known = tokens.subarray(0, end);
    postMessage({ from: at, records }, records.map((record) => record.buffer));
    if (next) return next;
    at = end;
    if (performance.now() - begin < PATIENCE) continue;
    await pause();
    begin = performance.now();
  }
}

// commonStart is how many first tokens of a and b are the same.
function commonStart(a, b) {
  let n = 0;
  while (n < Math.min(a.length, b.length) && a[n] === b[n]) n++;
  return n;
}

// pause lets waiting messages in.
function pause() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
