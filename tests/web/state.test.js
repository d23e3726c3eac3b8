import assert from "node:assert/strict";
import { test } from "node:test";
import { format, formatOne, parse, same } from "../../app/web/state.js";

const depth = { name: "depth", kind: "int", low: 1, high: 48, choices: null };
const seed = { name: "seed", kind: "int", low: 0, high: 999, choices: null };
const change = { name: "change", kind: "float", low: 0.001, high: 0.1, choices: null };
const attention = { name: "attention", kind: "choice", low: null, high: null, choices: ["uniform", "softmax"], names: ["the same for all", "softmax"] };
const wiring = { name: "wiring", kind: "choices", low: null, high: null, choices: ["post_ln", "pre_ln"] };
const depths = { name: "depths", kind: "ints", low: 1, high: 48, choices: null };

const experiments = {
  sensitivity: {
    options: [depth, change, attention, wiring, depths, seed],
    defaults: { depth: "12", change: "0.01", attention: "uniform", wiring: "post_ln,pre_ln", depths: "6,12", seed: "0" },
  },
  gradients: { options: [depth, seed], defaults: { depth: "6", seed: "0" } },
};

/** @param {string} query */
const sensitivity = (query) => parse(query, experiments).states.sensitivity;

test("an empty query asks for the defaults", () => {
  const { states, notices, version } = parse("", experiments);
  assert.deepEqual(states.sensitivity, experiments.sensitivity.defaults);
  assert.deepEqual(states.gradients, experiments.gradients.defaults);
  assert.deepEqual(notices, []);
  assert.equal(version, null);
});

test("a prefixed key is meant for its experiment alone", () => {
  const { states } = parse("?sensitivity.depth=24", experiments);
  assert.equal(states.sensitivity.depth, "24");
  assert.equal(states.gradients.depth, "6");
});

test("the experiments that a query is about are named, whether it is right about them or not", () => {
  assert.deepEqual(parse("?sensitivity.depth=24&v=1", experiments).named, ["sensitivity"]);
  assert.deepEqual(parse("?depth=24", experiments).named, ["sensitivity", "gradients"]);
  assert.deepEqual(parse("?gradients.depth=many&dpeth=3&show=gradients", experiments).named, ["gradients"]);
  assert.deepEqual(parse("?v=1", experiments).named, []);
});

test("an unprefixed key is meant for every experiment that has it", () => {
  const { states } = parse("?depth=24&attention=softmax", experiments);
  assert.equal(states.sensitivity.depth, "24");
  assert.equal(states.gradients.depth, "24");
  assert.equal(states.sensitivity.attention, "softmax");
  assert.ok(!("attention" in states.gradients));
});

test("a prefixed key wins over an unprefixed one, in whatever order", () => {
  assert.equal(sensitivity("?sensitivity.depth=24&depth=30").depth, "24");
  assert.equal(sensitivity("?depth=30&sensitivity.depth=24").depth, "24");
});

test("a value out of range is clamped, and said of each experiment", () => {
  const { states, notices } = parse("?depth=500", experiments);
  assert.equal(states.sensitivity.depth, "48");
  assert.equal(states.gradients.depth, "48");
  const clamped = { kind: "clamped", name: "depth", given: "500", used: "48", low: "1", high: "48" };
  assert.deepEqual(notices, ["sensitivity", "gradients"].map((experiment) => ({ experiment, ...clamped })));
});

test("a value that cannot be read leaves the default, and is said", () => {
  for (const text of ["", "x", "1.5", "NaN", "Infinity", "0x10", "1e3"]) {
    const { states, notices } = parse(`?sensitivity.depth=${text}`, experiments);
    assert.equal(states.sensitivity.depth, "12", text);
    assert.equal(notices[0]?.kind, "unreadable", text);
  }
  const { states, notices } = parse("?attention=linear", experiments);
  assert.equal(notices[0].kind, "unreadable");
  assert.equal(states.sensitivity.attention, "uniform");
  assert.equal(notices[0].used, "the same for all", "not by its internal name");
});

test("an unknown key is ignored, and said", () => {
  for (const query of ["?dpeth=3", "?sensitivity.dpeth=3", "?elsewhere.depth=3", "?gradients.attention=softmax"]) {
    const { states, notices } = parse(query, experiments);
    assert.deepEqual(states.sensitivity, experiments.sensitivity.defaults);
    assert.deepEqual(notices.map(({ kind }) => kind), ["unknown"], query);
  }
});

test("texts become canonical: signs, zeros, spaces, order of choices", () => {
  assert.equal(sensitivity("?depth=%2B024").depth, "24");
  assert.equal(sensitivity("?change=1e-2").change, "0.01");
  assert.equal(sensitivity("?wiring=pre_ln,post_ln").wiring, "post_ln,pre_ln");
  assert.equal(sensitivity("?depths=6, 12 ,24").depths, "6,12,24");
});

test("known ones are kept of a list of choices", () => {
  const { states, notices } = parse("?wiring=pre_ln,none", experiments);
  assert.equal(states.sensitivity.wiring, "pre_ln");
  assert.equal(notices[0].kind, "clamped");
});

test("the version of the numbers is read, and is no option", () => {
  const { version, notices } = parse("?v=1&depth=3", experiments);
  assert.equal(version, "1");
  assert.deepEqual(notices, []);
});

test("the default state needs no query", () => {
  assert.equal(format({ sensitivity: experiments.sensitivity.defaults }, experiments, "1"), "");
});

test("a link says what differs from the defaults, and the version", () => {
  const states = parse("?depth=24&sensitivity.wiring=pre_ln&sensitivity.depths=6,9", experiments).states;
  const query = "?sensitivity.depth=24&sensitivity.wiring=pre_ln&sensitivity.depths=6,9&gradients.depth=24&v=1";
  assert.equal(format(states, experiments, "1"), query);
  assert.deepEqual(parse(query, experiments).states, states);
});

test("an embed keeps what it was asked to show, and that is no option", () => {
  const { states, notices } = parse("?show=sensitivity,gradients&depth=24", experiments);
  assert.deepEqual(notices, []);
  const query = format(states, experiments, "1", "sensitivity,gradients");
  assert.equal(query, "?show=sensitivity,gradients&sensitivity.depth=24&gradients.depth=24&v=1");
  assert.equal(format({}, experiments, "1", "gradients"), "?show=gradients");
});

test("states are the same when every option has the same text", () => {
  assert.ok(same({ a: "1", b: "2" }, { b: "2", a: "1" }));
  assert.ok(!same({ a: "1" }, { a: "2" }));
  assert.ok(!same({ a: "1" }, { a: "1", b: "2" }));
});

test("one experiment's query says what differs and the version in any case, and reads as its state", () => {
  const { options, defaults } = experiments.sensitivity;
  const stored = { options, state: defaults };
  const state = { ...defaults, depth: "24", depths: "6,12,24" };
  assert.equal(formatOne(defaults, stored, "1", "sensitivity."), "?v=1");
  assert.equal(formatOne(state, stored, "1", "sensitivity."), "?sensitivity.depth=24&sensitivity.depths=6,12,24&v=1");
  const framed = formatOne(state, stored, "1", "", "sensitivity");
  assert.equal(framed, "?show=sensitivity&depth=24&depths=6,12,24&v=1");
  assert.deepEqual(sensitivity(framed), state);
});
