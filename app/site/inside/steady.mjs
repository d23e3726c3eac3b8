// Chance and clocks as the makers of a snapshot want them: always the same, or surely not the same.

const DAY = Date.UTC(2000, 0, 1);

/** Takes chance and clocks out of what runs next, so that the same files give the same memory. */
export function steady() {
  set({ day: DAY, byte: 7, start: 0 });
}

/** Other clocks and other chance at each of `time` 0, 1, 2, in every byte: left alone they may happen to agree. */
export function unsteady(time) {
  set({ day: DAY + time * 0x12345678ab, byte: [0x11, 0x66, 0xaa][time], start: [0.123, 0.456, 0.789][time] });
}

/** Lets no garbage collection of JavaScript's, which comes when it likes, free anything of Python's. */
export function keepProxies() {
  globalThis.FinalizationRegistry = class {
    register() {}
    unregister() {}
  };
}

function set({ day, byte, start }) {
  let now = start * 1e6;
  const tick = () => (now += 0.125); // a clock that stands still could hang whoever waits for it
  performance.now = tick;
  Date.now = () => day + Math.floor(tick());
  const { subtle } = globalThis.crypto;
  Object.defineProperty(globalThis, "crypto", {
    value: { subtle, getRandomValues: (view) => view.fill(byte) },
    configurable: true,
  });
  let drawn = start;
  Math.random = () => (drawn = (drawn + 0.618034) % 1);
}
