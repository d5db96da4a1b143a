// An expression of the plan: its compiled program and its conditions on grams, made by the daemon
// (daemon/engine/regex). The node's data is a head (REGEX_*_OFFSET, shared/plan.ts), then the
// program.

import { Arena, arenaAlloc } from '../base/arena.ts';
import {
  NODE_AND,
  NODE_GRAMS,
  NODE_OR,
  PLAN_DEPTH_MAX,
  REGEX_CHAIN_OFFSET,
  REGEX_CONDITION_OFFSET,
  REGEX_HEAD_SIZE,
  REGEX_NEAR_OFFSET,
  REGEX_START_OFFSET,
} from '../shared/plan.ts';
import { STATUS_BAD_PLAN, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { compileRegex, regexSpansLines, regexStatus } from '../regex/regex.ts';
import { gramsOf } from './conditions.ts';
import { expectLookups, FOREIGN_KEYS_MAX } from './lookups.ts';
import { failCompiling, MatchNode, nodeAt, nodeOf } from './node.ts';

/** Conditions are trees of AND, OR and GRAMS (conditions.ts). */
@unmanaged
export class Expression {
  regex: u32; // address of the result of compileRegex
  spansLines: u32; // 1: a match may contain a newline
  condition: MatchNode; // requirement on every match; null: none
  // For one that spans lines (match-starts.ts):
  start: MatchNode; // requirement on the block where a match begins; null: none
  near: MatchNode; // requirement on that block and the next one together; null: none
  startSize: u32; // least bytes of a match, before any newline, by `start`; 0: unknown
  chain: u32; // address of the ASCII bytes that may be between start and near (REGEX_CHAIN_SIZE)
}

/**
 * Sets compileStatus for a head that does not name earlier rows, for an invalid program, and if the
 * arena is full.
 */
export function makeExpression(arena: Arena, node: MatchNode, index: u32): Expression {
  const expression = changetype<Expression>(arenaAlloc(arena, offsetof<Expression>(), 8));
  if (changetype<usize>(expression) == 0) failCompiling(STATUS_OUT_OF_MEMORY);
  else if (node.dataSize < REGEX_HEAD_SIZE) failCompiling(STATUS_BAD_PLAN);
  else {
    const head = <usize>node.data;
    expression.condition = conditionOf(head + REGEX_CONDITION_OFFSET, index);
    expression.start = conditionOf(head + REGEX_START_OFFSET, index);
    expression.near = conditionOf(head + REGEX_NEAR_OFFSET, index);
    expression.startSize = isGiven(expression.start) ? leastGramChars(expression.start, 0) : 0;
    expression.chain = <u32>head + REGEX_CHAIN_OFFSET;
    // Binding may also look up grams that are in no literal (foreign.ts).
    if (isGiven(expression.near)) expectLookups(FOREIGN_KEYS_MAX);
    expression.regex = <u32>(
      compileRegex(arena, head + REGEX_HEAD_SIZE, node.dataSize - REGEX_HEAD_SIZE)
    );
    if (expression.regex == 0) failCompiling(regexStatus);
    else expression.spansLines = regexSpansLines(expression.regex) ? 1 : 0;
  }
  return expression;
}

/** The condition named by a field of the head, its row plus one; null for 0. */
function conditionOf(field: usize, index: u32): MatchNode {
  const nodeNumber = load<u32>(field);
  if (nodeNumber > index) failCompiling(STATUS_BAD_PLAN);
  return changetype<MatchNode>(
    nodeNumber == 0 || nodeNumber > index ? <usize>0 : changetype<usize>(nodeOf(nodeNumber - 1)),
  );
}

@inline
export function isGiven(condition: MatchNode): bool {
  return changetype<usize>(condition) != 0;
}

/** Least letters, and so bytes, of a line that satisfies the condition; 0: unknown. */
function leastGramChars(condition: MatchNode, depth: u32): u32 {
  if (condition.kind == NODE_GRAMS) return gramsOf(condition).gramCharCount;
  if (depth > PLAN_DEPTH_MAX || (condition.kind != NODE_AND && condition.kind != NODE_OR)) return 0;
  let least: u32 = 0;
  for (let i: u32 = 0; i < condition.childCount; i++) {
    const count = leastGramChars(nodeAt(condition.children, i), depth + 1);
    least = i == 0 ? count : condition.kind == NODE_AND ? max(least, count) : min(least, count);
  }
  return least;
}
