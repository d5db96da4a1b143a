// What a compiled expression promises of each of its matches.

import assert from 'node:assert/strict';
import { NEEDLES_INNER, NEEDLES_PREFIX } from '../../core/shared/program.ts';
import type { CompiledRegex } from '../../daemon/regex/compile.ts';
import type { Condition } from '../../daemon/regex/condition.ts';
import { foldText } from '../../daemon/regex/fold.ts';
import type { Twin } from './twin.ts';

function satisfies(folded: string, condition: Condition): boolean {
  switch (condition.kind) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'literal':
      return folded.includes(condition.text);
    case 'and':
      return condition.children.every((child) => satisfies(folded, child));
    case 'or':
      return condition.children.some((child) => satisfies(folded, child));
  }
}

/** Fails unless the non-empty match `text` satisfies condition, needles and flags. */
export function checkMatch(
  compiled: CompiledRegex,
  twin: Twin,
  text: string,
  context: string,
): void {
  const folded = foldText(text);
  assert.ok(satisfies(folded, compiled.condition), `condition: ${context}`);
  assert.ok(compiled.spansLines || !/\n[^]/.test(text), `spans lines: ${context}`);
  const subject = twin.areNeedlesFolded ? folded : text;
  if (twin.needleKind === NEEDLES_PREFIX) {
    assert.ok(
      twin.needles.some((needle) => subject.startsWith(needle)),
      `prefix: ${context}`,
    );
  } else if (twin.needleKind === NEEDLES_INNER) {
    assert.ok(
      twin.needles.some((needle) => subject.includes(needle)),
      `inner: ${context}`,
    );
    assert.ok(!twin.needles.some((needle) => needle.includes('\n')));
  }
  const { run } = compiled.needles;
  if (run === undefined) return;
  const begin = Buffer.from(text).subarray(0, run.size);
  assert.equal(begin.length, run.size, `run: ${context}`);
  const isInClass = (byte: number): boolean => (run.bytes[byte >> 3]! & (1 << (byte & 7))) !== 0;
  assert.ok(begin.every(isInClass), `run: ${context}`);
}
