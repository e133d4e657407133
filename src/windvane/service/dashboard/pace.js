// Work that follows a stream without being drowned by it.

/**
 * A function that runs `task` soon, but never twice within `gap` ms nor twice at once; the last call counts.
 * Nothing runs while the page is hidden; what was due then runs when it is seen again.
 */
export function paced(task, gap) {
  let due = false;
  let running = false;
  let last = -Infinity;
  let timer = 0;

  async function run() {
    timer = 0;
    if (!due || running || document.hidden) return;
    due = false;
    running = true;
    last = performance.now();
    try {
      await task();
    } finally {
      running = false;
      if (due) plan();
    }
  }

  function plan() {
    if (timer || running) return;
    timer = setTimeout(run, Math.max(0, last + gap - performance.now()));
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && due) plan();
  });
  return () => {
    due = true;
    plan();
  };
}
