// The program of the Web Worker: it holds the model and answers one request after the other. Messages to it:
//
//   {network, config}   the model, first of all; answered by {ready}
//   {id, tokens}        a request: at most block_size ids, Int32Array
//   {abort: id}         nobody waits for that request any more
//
// Messages from it:
//
//   {from, records}     what gpt.forward recorded of the tokens from a position on; those before it stay as they were
//   {id, next}          the answer: next (V), after all records of its tokens
//   {id, error}, {error}  what went wrong, of a request or of the model
//
// What two prompts have in common at their start is computed once: a sampled or typed character costs one token, as long
// as the window does not slide.

const CHUNK = 16; // tokens that pass through the model together
const WARMTH = 150; // milliseconds of exercise before the first request
const PATIENCE = 30; // milliseconds of work between two looks at the messages

let gpt = null;
let known = new Int32Array(0); // the tokens of gpt's sequence
const requests = []; // the oldest first

onmessage = ({ data: message }) => {
  if (message.network) return guarded({}, () => load(message));
  if (message.abort !== undefined) {
    for (const request of requests) request.aborted ||= request.id === message.abort;
    return;
  }
  requests.push(message);
  if (requests.length === 1) work();
};

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

async function work() {
  for (; requests.length > 0; requests.shift()) {
    const [request] = requests;
    await guarded({ id: request.id }, () => answer(request));
  }
}

// answer passes what is new of a request's tokens through the model: at least the last, whose successor is asked for.
async function answer(request) {
  const { tokens } = request;
  let begin = performance.now();
  let at = Math.min(commonStart(known, tokens), tokens.length - 1);
  while (!request.aborted) {
    const end = Math.min(at + CHUNK, tokens.length);
    gpt.forget(at);
    known = tokens.subarray(0, at);
    const { records, next } = gpt.forward(tokens.subarray(at, end), end === tokens.length);
    known = tokens.subarray(0, end);
    postMessage({ from: at, records }, records.map((record) => record.buffer));
    if (next) return postMessage({ id: request.id, next });
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
