// Takes chance and clocks out of what runs next, so that the same files give the same memory.

const DAY = Date.UTC(2000, 0, 1);

export function steady() {
  let now = 0;
  const tick = () => (now += 0.125); // a clock that stands still could hang whoever waits for it
  performance.now = tick;
  Date.now = () => DAY + Math.floor(tick());
  const { crypto } = globalThis;
  Object.defineProperty(globalThis, "crypto", {
    value: { subtle: crypto.subtle, getRandomValues: (view) => view.fill(7) },
  });
  let drawn = 0;
  Math.random = () => (drawn = (drawn + 0.618034) % 1);
}
