// Checks a match against what its compiled expression promises.

import assert from 'node:assert/strict';
import { NEEDLES_INNER, NEEDLES_PREFIX } from '../../../core/shared/program.ts';
import type { MatchStart } from '../../../daemon/engine/regex/match-start.ts';
import type { CompiledRegex } from '../../../daemon/engine/regex/compile.ts';
import type { Condition } from '../../../daemon/engine/regex/condition.ts';
import { foldText } from '../../../daemon/engine/regex/fold.ts';
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

/** What the parts of a match say in the blocks that it is cut into at line ends, however they are cut. */
function checkMatchStart(matchStart: MatchStart, text: string, context: string): void {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const { start, near } = matchStart;
  for (let end = 1; end <= lines.length; end++) {
    const block = foldText(lines.slice(0, end).join(''));
    assert.ok(satisfies(block, start), `start: ${context}`);
    if (satisfies(block, near)) continue;
    assert.ok(end < lines.length, `near, at the end: ${context}`);
    assert.ok(isChain(matchStart, lines.slice(0, end).join('')), `chain: ${context}`);
    for (let nextEnd = end + 1; nextEnd <= lines.length; nextEnd++) {
      const next = lines.slice(end, nextEnd).join('');
      const isNear = satisfiesNear(block, `\n${foldText(next)}`, near);
      assert.ok(
        isNear || (nextEnd < lines.length && isChain(matchStart, next)),
        `near: ${context}`,
      );
    }
  }
}

/** Each literal stands in one of the two. */
function satisfiesNear(block: string, next: string, condition: Condition): boolean {
  if (condition.kind === 'and')
    return condition.children.every((child) => satisfiesNear(block, next, child));
  if (condition.kind === 'or')
    return condition.children.some((child) => satisfiesNear(block, next, child));
  return satisfies(block, condition) || satisfies(next, condition);
}

/** Whether the text is of bytes of the chain, or beyond ASCII. */
function isChain({ bytes }: MatchStart, text: string): boolean {
  return Buffer.from(text).every(
    (byte) => byte >= 0x80 || (bytes[byte >> 3]! & (1 << (byte & 7))) !== 0,
  );
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
  if (compiled.matchStart) checkMatchStart(compiled.matchStart, text, context);
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
