// The attacks on a small scale, against a real daemon: every answer is right or a valid refusal, the daemon survives,
// and other callers are served. No times are asserted.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import test from 'node:test';
import { ATTACKS } from '../../bench/attacks/attacks.ts';
import { runAttacks, type AttackResult } from '../../bench/attacks/run.ts';
import { TINY_SCALE } from '../../bench/attacks/world.ts';

/** Outcomes that are no answers: the attack was over, or the request never complete. */
const UNANSWERED = ['no answer at the end', 'held to the end'];
/** A valid refusal is only its status; the problem of another one follows it. */
const PROPER = new Set(['200', '503', ...UNANSWERED]);
/** Attacks some of whose requests break a rule of their own, and the status for it. */
const ALSO_PROPER: Readonly<Record<string, readonly string[]>> = {
  'worst expressions': ['400'],
  'large bodies': ['400'],
  'file queries': ['400'],
  'deep trees': ['404'],
  'slow senders': ['401'],
  'one by one': ['400', '404'],
};

let results: readonly AttackResult[] = [];

test.before(async () => {
  results = await runAttacks({ attacks: ATTACKS, scale: TINY_SCALE });
});

void test('all attacks run, and none stops because the daemon died', () => {
  assert.deepEqual(
    results.map(({ name }) => name),
    ATTACKS.map(({ name }) => name),
  );
  for (const { name, ended } of results) assert.equal(ended, undefined, name);
});

void test('every answer to an attacker is a success or a valid refusal', () => {
  for (const { name, answers } of results) {
    const also = ALSO_PROPER[name] ?? [];
    const improper = Object.keys(answers).filter(
      (outcome) => !PROPER.has(outcome) && !also.includes(outcome),
    );
    assert.deepEqual(improper, [], name);
    assert.ok(Object.keys(answers).length > 0, name);
  }
  const { answers = {} } = results.find(({ name }) => name === 'one by one') ?? {};
  assert.ok(Object.keys(answers).every((outcome) => !UNANSWERED.includes(outcome)));
});

void test('health and the rare word are answered before, during and after each attack', () => {
  for (const { name, calm, attack, rest } of results) {
    for (const { health, word, faults } of [calm, attack, rest]) {
      assert.deepEqual(faults, {}, name);
      assert.ok((health?.sampleCount ?? 0) > 0 && (word?.sampleCount ?? 0) > 0, name);
    }
  }
});
