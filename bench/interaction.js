// In a lesson's page: moves its controls, and notes when what they ask for has been painted.
// Times are milliseconds; a frame begins when its first callback runs, and ends when the browser has painted it.
(() => {
  const SETTLED = ["ready", "stopped", "error"];
  const PATIENCE = 120_000;
  /** @type {{begun: number, ended: Promise<number>}[]} */
  const frames = [];
  /** @type {number[]} */
  const paints = [];
  /** @type {{at: number, took: number}[]} */
  const tasks = [];
  /** @type {Set<any>} */
  const watched = new Set();

  const frame = () => new Promise(requestAnimationFrame);
  const wait = (time) => new Promise((resolve) => setTimeout(resolve, time));

  /** The next task of the highest priority comes right after the frame's style, layout and painting. */
  const ending = () => scheduler.postTask(() => performance.now(), { priority: "user-blocking" });

  const beat = () => {
    frames.push({ begun: performance.now(), ended: ending() });
    if (frames.length > 600) frames.splice(0, 300);
    requestAnimationFrame(beat);
  };

  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) tasks.push({ at: entry.startTime, took: entry.duration });
  }).observe({ type: "longtask", buffered: true });

  /** @param {any} view  BokehJS' view of a figure */
  function watchPaints(view) {
    if (watched.has(view)) return;
    watched.add(view);
    view.repainted.connect(() => {
      paints.push(performance.now());
      if (paints.length > 600) paints.splice(0, 300);
    });
  }

  /**
   * The end of the frame that shows what the figures were told at `told`, and of the one that shows the words
   * that were there at `said`; of both the later.
   */
  async function painted(told, said) {
    await frame();
    await frame(); // Bokeh waits when it has painted a moment ago
    const drawn = paints.find((at) => at >= told); // none: there was nothing to be painted but words
    const both = [frames.find(({ begun }) => begun >= said), frames.findLast(({ begun }) => begun <= drawn)];
    return Math.max(...(await Promise.all(both.map((shown) => shown?.ended ?? 0))));
  }

  // ------------------------------------------------------------------ the floor

  /** The bare slider, at the head of the page. */
  async function layFloor() {
    const { port1, port2 } = new MessageChannel();
    const said = () => new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
    const first = said();
    benchInteraction.worker.postMessage({ type: "floor", ports: [port2] }, [port2]);
    const stored = JSON.parse(await first);
    const box = document.createElement("div");
    const places = stored.roots.map(() => box.appendChild(document.createElement("div")));
    document.querySelector("main").prepend(box);
    const [manager] = await Bokeh.embed.embed_items({ it: stored.document }, [
      { docid: "it", root_ids: stored.roots, roots: Object.fromEntries(stored.roots.map((id, i) => [id, places[i]])) },
    ]);
    const [slider, plot] = stored.roots.map((id) => manager.roots.find((view) => view.model.id === id));
    const bokeh = slider.model.document;
    let quiet = false;
    bokeh.on_change((event) => {
      if (!quiet) port1.postMessage(JSON.stringify(bokeh.create_json_patch([event])));
    });
    let heard = () => {};
    port1.onmessage = ({ data }) => {
      quiet = true;
      const patch = JSON.parse(data);
      bokeh.apply_json_patch(patch);
      quiet = false;
      if (patch.events.some(({ attr }) => attr === "data")) heard(performance.now());
    };
    watchPaints(plot);
    return async (key) => {
      const answer = new Promise((resolve) => (heard = resolve));
      const asked = performance.now();
      press(slider, key);
      const at = await answer;
      return (await painted(at, at)) - asked;
    };
  }

  let floor = null;

  /** So many moves of the bare slider, one after the other. */
  async function onFloor(count) {
    floor ??= await layFloor();
    const times = [];
    for (let i = 0; i < count; i++) {
      times.push(await floor(i % 20 < 10 ? "ArrowRight" : "ArrowLeft"));
      await pause();
    }
    return times;
  }

  /** Another moment of the frame each time. */
  const pause = () => wait(20 + 20 * Math.random());

  // ------------------------------------------------------------------ an experiment

  class Experiment {
    constructor(painted) {
      this.painted = painted;
      this.section = painted.section;
      this.last = { shown: {}, status: "", newest: false };
      this.told = performance.now();
      this.hearers = new Set();
      const apply = painted.patch.bind(painted);
      painted.patch = (patch) => {
        apply(patch);
        this.told = performance.now();
      };
      this.section.addEventListener("normlab:state", ({ detail }) => {
        this.last = detail;
        for (const hear of this.hearers) hear();
      });
      for (const slot of Object.keys(painted.roots)) {
        if (slot.startsWith("figure:")) watchPaints(painted.figure(slot.slice("figure:".length)));
      }
    }

    /** Until Python has told a state of which `holds`; when that was. */
    until(holds) {
      return new Promise((resolve, reject) => {
        const clock = setTimeout(() => {
          this.hearers.delete(look);
          reject(new Error(`${this.section.dataset.experiment} stays ${JSON.stringify(this.last)}`));
        }, PATIENCE);
        const look = () => {
          if (!holds(this.last)) return;
          this.hearers.delete(look);
          clearTimeout(clock);
          resolve(performance.now());
        };
        this.hearers.add(look);
      });
    }

    /** What was asked for is shown, perhaps in part. */
    shows(name, text) {
      return this.until(({ newest, shown }) => newest && shown[name] === text);
    }

    /** All is done and told. */
    settled() {
      const done = ({ newest, status }) => newest && SETTLED.includes(status);
      return done(this.last) ? performance.now() : this.until(done);
    }

    /** The texts of a control's values, in order. */
    values(name) {
      const control = this.painted.controls.get(name);
      if (control === undefined) {
        const buttons = [...this.section.querySelectorAll(`[data-sets^="${name}="]`)];
        return [...new Set(buttons.map((button) => button.dataset.sets.split("=")[1]))];
      }
      const { values, low, high } = control.tag;
      const count = values?.length ?? Number(high) - Number(low) + 1;
      return values ?? Array.from({ length: Math.min(count, 1000) }, (_, i) => String(Number(low) + i));
    }

    text(name) {
      return this.painted.state()[name];
    }

    /** As a hand would, as far as a page can: the handlers of the browser's own elements run. */
    move(name, text) {
      const control = this.painted.controls.get(name);
      if (control === undefined) {
        this.section.querySelector(`[data-sets="${CSS.escape(name)}=${CSS.escape(text)}"]`).click();
        return;
      }
      const { shadow, tag, model } = control;
      const [select, field] = [shadow.querySelector("select"), shadow.querySelector("input[type=text]")];
      const radios = [...shadow.querySelectorAll("input[type=radio]")];
      if (select) {
        select.selectedIndex = tag.values.indexOf(text); // its values are Bokeh's own
        select.dispatchEvent(new Event("change", { bubbles: true }));
      } else if (radios.length > 0) {
        radios[tag.values.indexOf(text)].click();
      } else if (field) {
        field.value = text;
        field.dispatchEvent(new Event("change", { bubbles: true }));
      } else {
        const values = this.values(name);
        const far = values.indexOf(text) - values.indexOf(control.text);
        if (Math.abs(far) === 1) press(control.view, far > 0 ? "ArrowRight" : "ArrowLeft");
        else model[tag.property] = tag.indexed ? values.indexOf(text) : Number(text);
      }
    }

    /** Asks for another value; times from then on. */
    async ask(name, text) {
      const asked = performance.now();
      this.move(name, text);
      const computing = this.section.dataset.state === "computing" && this.text(name) === text;
      const control = computing ? frame().then(() => performance.now() - asked) : NaN;
      if (!this.last.newest || this.last.shown[name] !== text) await this.shows(name, text);
      const said = performance.now();
      const shown = (await painted(this.told >= asked ? this.told : said, said)) - asked;
      return { control: await control, shown };
    }

    /** @param {string[]} path  values, one after the other */
    async follow(name, path) {
      const times = [];
      for (const text of path) {
        times.push(await this.ask(name, text));
        await this.settled();
        await pause();
      }
      return times;
    }

    /** Away from a value that has been computed, to one that has not, and back. */
    async anew(name, text) {
      const base = this.text(name);
      const times = await this.ask(name, text);
      await this.back(name, base);
      return times;
    }

    /** Press a button, and wait until what it starts is done. */
    async press(action) {
      const begun = this.until(({ newest }) => newest);
      this.section.querySelector(`[data-slot="button:${action}"]`).querySelector("*").shadowRoot
        .querySelector("button").click();
      await begun;
      return this.settled();
    }

    async back(name, base) {
      this.move(name, base);
      const at = await this.until(({ newest }) => newest);
      await this.settled();
      await pause();
      return at;
    }

    /** While one value is being computed another one comes: how soon Python has turned to it. */
    async overtake(name, text) {
      const base = this.text(name);
      this.move(name, text);
      await wait(20);
      const asked = performance.now();
      return (await this.back(name, base)) - asked;
    }
  }

  /** @param {any} view @param {string} key */
  function press(view, key) {
    const handle = view.shadow_el.querySelector("[role=slider]");
    handle.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  }

  /** An experiment by name, brought into view, live and at rest. */
  const experiments = new Map();
  async function take(name) {
    document.querySelector(`section[data-experiment="${name}"]`).scrollIntoView({ block: "start" });
    const painted = await normlab.paint(name);
    if (!experiments.has(name)) experiments.set(name, new Experiment(painted));
    const it = experiments.get(name);
    while (painted.section.dataset.hydration === undefined || !SETTLED.includes(painted.section.dataset.state)) {
      await wait(50);
    }
    it.last = { ...it.last, newest: true, status: painted.section.dataset.state };
    return it;
  }

  /** The longest task of the main thread since then. */
  function longest(since) {
    return Math.max(0, ...tasks.filter(({ at }) => at >= since).map(({ took }) => took));
  }

  const { Worker: Theirs } = window;
  class Known extends Theirs {
    constructor(...args) {
      super(...args);
      benchInteraction.worker = this;
    }
  }
  window.Worker = Known;
  window.benchInteraction = { worker: null, onFloor, take, longest, pause };
  requestAnimationFrame(beat);
})();
