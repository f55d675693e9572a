// When views are painted: at the next frame after a change, with all changes until then, so that a source may be faster
// than the screen.

// While characters are sampled, a painter begins after so many milliseconds at the earliest, and takes one of so many
// parts of the time: the rest is for the sampler, and for the browser to show what was painted.
const INTERVAL = 50;
const SHARE = 6;

// createPainter paints some views. Each painter has its own pace, so that pictures, which cost much, do not hold up words:
// these change every 60 to 140 ms while the default model samples, where one painter for all views took 280 to 600.
// settle is called whenever isDue, whether something waits to be painted, changes.
function createPainter(state, views, settle) {
  const changed = new Set(); // names of the state that the views have not heard of yet
  let due = false;
  let begun = 0; // when the last paint began, in milliseconds
  let cost = 0; // how long it took
  let cancel = () => {}; // takes the paint back that is due

  function note(name) {
    changed.add(name);
    if (!due || name === "sampling") soon(); // after the last character nothing is left to wait for
  }

  // soon paints at the next frame, while characters are sampled at a later one: painting is slower than most models, whose
  // characters then come several to a paint. A hidden page has no frames, but must not wait for them for ever.
  function soon() {
    cancel();
    wait(true);
    let frame = 0;
    let timer = setTimeout(() => {
      frame = requestAnimationFrame(paintAll);
      timer = setTimeout(paintAll, 200);
    }, state.sampling ? begun + Math.max(INTERVAL, SHARE * cost) - performance.now() : 0);
    cancel = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }

  function wait(yes) {
    due = yes;
    settle();
  }

  function paintAll() {
    cancel();
    begun = performance.now();
    wait(false);
    const names = new Set(changed);
    changed.clear();
    for (const view of views) view.paint(state, names);
    cost = performance.now() - begun;
  }

  return { note, isDue: () => due };
}
