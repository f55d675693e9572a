// When views are painted: at the next frame after a change, with all changes until then, so that a source may be faster
// than the screen.

// While characters are sampled, a painter begins after so many milliseconds at the earliest, and takes one of so many
// parts of the time: the rest is for the sampler, and for the browser to show what was painted.
const INTERVAL = 50;
const SHARE = 6;

// createPainter paints some views. Each painter has its own pace, so that pictures, which cost much, do not hold up words.
// settle is called whenever isDue, whether something waits to be painted, changes.
function createPainter(state, views, settle) {
  const changed = new Set(); // names of the state that the views have not heard of yet
  let due = false;
  let begun = 0; // when the last paint began, in milliseconds
  let cost = 0; // how long it took

  function note(name) {
    changed.add(name);
    if (!due) soon();
  }

  // soon paints at the next frame, while characters are sampled at a later one: painting is slower than most models, whose
  // characters then come several to a paint. A hidden page has no frames, but must not wait for them for ever.
  function soon() {
    wait(true);
    const rest = state.sampling ? begun + Math.max(INTERVAL, SHARE * cost) : 0;
    setTimeout(() => {
      const frame = requestAnimationFrame(paint);
      const timer = setTimeout(paint, 200);
      function paint() {
        cancelAnimationFrame(frame);
        clearTimeout(timer);
        paintAll();
      }
    }, rest - performance.now());
  }

  function wait(yes) {
    due = yes;
    settle();
  }

  function paintAll() {
    begun = performance.now();
    wait(false);
    const names = new Set(changed);
    changed.clear();
    for (const view of views) view.paint(state, names);
    cost = performance.now() - begun;
  }

  return { note, isDue: () => due };
}
