// Encodes a plan as the bytes that the core runs (core/shared/plan.ts), children before their parents.

import * as layout from '../../../core/shared/plan.ts';
import type { EncodedPlan } from '../host/encoded-plan.ts';
import { ALL, type Condition, withoutImplied } from '../regex/condition.ts';
import type { LetterCase } from '../regex/literals.ts';
import type { Steps } from '../../base/steps.ts';
import type { ProgramExpression } from './expressions.ts';
import { type PlanNode, tooManyConditions } from './plan-tree.ts';
import { docSetsFor, type DocsNode, type PlannedShardView } from './revisions.ts';

export type NodeRows = Map<PlanNode, number>;

/**
 * Each step handles one node, or the sets of docs of one shard. Errors: QueryError if the plan has too many nodes.
 * @param shards  those to search, for the docs of revisions
 * @param rows    filled; binding then counts docs and blocks of each node
 */
export function* encodeSteps(
  plan: PlanNode,
  isCaseSensitive: boolean,
  shards: readonly PlannedShardView[],
  rows?: NodeRows,
): Steps<EncodedPlan> {
  const caseFlag = isCaseSensitive ? layout.PLAN_FLAG_CASE_SENSITIVE : 0;
  const encoder = new PlanEncoder(caseFlag, rows);
  yield* encoder.add(plan);
  const docSets = yield* docSetsFor(encoder.docsNodes, shards);
  return { bytes: encoder.bytes(), ...docSets };
}

const START_FLAGS = { any: 0, word: layout.PLAN_FLAG_WORD_START, name: layout.PLAN_FLAG_AT_START };
const END_FLAGS = { any: 0, word: layout.PLAN_FLAG_WORD_END, name: layout.PLAN_FLAG_AT_END };

class PlanEncoder {
  readonly #caseFlag: number;
  readonly #rows: NodeRows | undefined;
  readonly #nodes: { kind: number; flags: number; first: number; size: number }[] = [];
  readonly #children: number[] = [];
  readonly #data: Buffer[] = [];
  #dataSize = 0;
  /** The distinct DOCS leaves, by the index that their nodes hold. */
  readonly docsNodes: DocsNode[] = [];
  readonly #docsIndexes = new Map<string, number>();

  constructor(caseFlag: number, rows: NodeRows | undefined) {
    this.#caseFlag = caseFlag;
    this.#rows = rows;
  }

  *add(plan: PlanNode): Steps<number> {
    yield;
    const index = yield* this.#addKind(plan);
    this.#rows?.set(plan, index);
    return index;
  }

  *#addKind(plan: PlanNode): Steps<number> {
    switch (plan.kind) {
      case 'const':
        return this.#node(layout.NODE_CONST, 0, plan.value ? 1 : 0, 0);
      case 'not':
        return this.#node(layout.NODE_NOT, 0, yield* this.add(plan.child), 1);
      case 'and':
      case 'or': {
        const indexes: number[] = [];
        for (const child of plan.children) indexes.push(yield* this.add(child));
        const first = this.#children.length;
        this.#children.push(...indexes);
        return this.#node(
          plan.kind === 'and' ? layout.NODE_AND : layout.NODE_OR,
          0,
          first,
          indexes.length,
        );
      }
      case 'text':
        return this.#leaf(
          layout.NODE_TEXT,
          this.#flagOf(plan.letterCase) | (plan.isInPath === true ? layout.PLAN_FLAG_IN_PATH : 0),
          Buffer.from(plan.text),
        );
      case 'regex':
        return this.#expression(layout.NODE_REGEX, plan.expression, this.#headOf(plan.expression));
      case 'pathRegex':
        return this.#expression(
          layout.NODE_PATH_REGEX,
          plan.expression,
          Buffer.alloc(layout.REGEX_HEAD_SIZE),
        );
      case 'symbolRegex':
        return this.#expression(
          layout.NODE_SYMBOL_REGEX,
          plan.expression,
          this.#lineHeadOf(plan.expression),
        );
      case 'symbol': {
        const { text, letterCase, start, end } = plan.literal;
        const flags = this.#flagOf(letterCase) | START_FLAGS[start] | END_FLAGS[end];
        return this.#leaf(layout.NODE_SYMBOL, flags, Buffer.from(text));
      }
      case 'path': {
        const { text, anchoredStart, anchoredEnd } = plan.literal;
        const start = anchoredStart ? layout.PLAN_FLAG_AT_START : 0;
        const end = anchoredEnd ? layout.PLAN_FLAG_AT_END : 0;
        const flags = this.#flagOf(plan.letterCase) | start | end;
        return this.#leaf(layout.NODE_PATH, flags, Buffer.from(text));
      }
      case 'language':
        return this.#leaf(layout.NODE_LANGUAGE, 0, Buffer.from(plan.name));
      case 'repos': {
        const ids = Uint32Array.from(plan.ids).sort();
        return this.#leaf(layout.NODE_REPOS, 0, Buffer.from(ids.buffer));
      }
      case 'docs':
        return this.#node(layout.NODE_DOCS, 0, this.#docsIndex(plan), 0);
    }
  }

  #docsIndex(node: DocsNode): number {
    const cached = this.#docsIndexes.get(node.text);
    if (cached !== undefined) return cached;
    const index = this.docsNodes.push(node) - 1;
    this.#docsIndexes.set(node.text, index);
    return index;
  }

  /** `undefined`: the request's setting. Irrelevant for a literal without letters. */
  #flagOf(letterCase: LetterCase | undefined): number {
    if (letterCase === undefined) return this.#caseFlag;
    return letterCase === 'folded' ? 0 : layout.PLAN_FLAG_CASE_SENSITIVE;
  }

  /** The head of an expression whose matches lie in one line; adds the nodes of its condition. */
  #lineHeadOf({ regex: { condition, exactCondition } }: ProgramExpression): Buffer {
    const head = Buffer.alloc(layout.REGEX_HEAD_SIZE);
    const flags = exactCondition === undefined ? 0 : layout.PLAN_FLAG_CASE_SENSITIVE;
    const conditionIndex = this.#condition(exactCondition ?? condition, flags);
    head.writeUInt32LE(conditionIndex, layout.REGEX_CONDITION_OFFSET);
    return head;
  }

  #headOf(expression: ProgramExpression): Buffer {
    const { condition, matchStart } = expression.regex;
    if (matchStart === undefined) return this.#lineHeadOf(expression);
    const head = Buffer.alloc(layout.REGEX_HEAD_SIZE);
    const { start, near, bytes } = matchStart;
    // The part that `start` does not imply.
    const rest = withoutImplied(condition, start);
    head.writeUInt32LE(this.#condition(rest, 0), layout.REGEX_CONDITION_OFFSET);
    head.writeUInt32LE(this.#condition(start, 0), layout.REGEX_START_OFFSET);
    // Without it the search reads more blocks; large plans omit it.
    const nearCondition = this.#nodes.length < layout.PLAN_NODES_MAX / 4 ? near : ALL;
    head.writeUInt32LE(this.#condition(nearCondition, 0), layout.REGEX_NEAR_OFFSET);
    head.set(bytes, layout.REGEX_CHAIN_OFFSET);
    return head;
  }

  #expression(
    kind: number,
    { regex: { program }, isChoice, isAlwaysTrue }: ProgramExpression,
    head: Buffer,
  ): number {
    const flags =
      (isChoice ? layout.PLAN_FLAG_LITERALS : 0) | (isAlwaysTrue ? layout.PLAN_FLAG_ALWAYS : 0);
    return this.#leaf(kind, flags, Buffer.concat([head, program]));
  }

  /** Adds the nodes of a condition; returns the index of its root plus one, 0: no condition. */
  #condition(condition: Condition, flags: number): number {
    switch (condition.kind) {
      case 'all':
        return 0;
      case 'literal':
        return this.#leaf(layout.NODE_GRAMS, flags, Buffer.from(condition.text)) + 1;
      case 'and':
      case 'or': {
        const indexes = condition.children.map((child) => this.#condition(child, flags) - 1);
        const first = this.#children.length;
        this.#children.push(...indexes);
        const kind = condition.kind === 'and' ? layout.NODE_AND : layout.NODE_OR;
        return this.#node(kind, 0, first, indexes.length) + 1;
      }
      case 'none':
        throw new Error('a condition that never holds has no plan');
    }
  }

  #leaf(kind: number, flags: number, data: Buffer): number {
    const offset = this.#dataSize;
    this.#data.push(data);
    this.#dataSize += paddedSize(data);
    return this.#node(kind, flags, offset, data.length);
  }

  #node(kind: number, flags: number, first: number, size: number): number {
    if (this.#nodes.length === layout.PLAN_NODES_MAX) throw tooManyConditions();
    return this.#nodes.push({ kind, flags, first, size }) - 1;
  }

  bytes(): Uint8Array {
    const childrenStart = layout.PLAN_HEADER_SIZE + this.#nodes.length * layout.PLAN_NODE_SIZE;
    let next = childrenStart + this.#children.length * 4;
    // A buffer of its own, as messages to threads copy the whole.
    const bytes = Buffer.alloc(next + this.#dataSize);
    bytes.writeUInt32LE(this.#nodes.length, layout.PLAN_NODE_COUNT_OFFSET);
    bytes.writeUInt32LE(this.#children.length, layout.PLAN_CHILD_COUNT_OFFSET);
    bytes.writeUInt32LE(this.#dataSize, layout.PLAN_DATA_SIZE_OFFSET);
    bytes.writeUInt32LE(this.#rows === undefined ? 0 : 1, layout.PLAN_COUNTS_OFFSET);
    for (const [index, { kind, flags, first, size }] of this.#nodes.entries()) {
      const row = layout.PLAN_HEADER_SIZE + index * layout.PLAN_NODE_SIZE;
      bytes.writeUInt32LE(kind, row + layout.PLAN_NODE_KIND_OFFSET);
      bytes.writeUInt32LE(flags, row + layout.PLAN_NODE_FLAGS_OFFSET);
      bytes.writeUInt32LE(first, row + layout.PLAN_NODE_FIRST_OFFSET);
      bytes.writeUInt32LE(size, row + layout.PLAN_NODE_SIZE_OFFSET);
    }
    for (const [index, child] of this.#children.entries()) {
      bytes.writeUInt32LE(child, childrenStart + index * 4);
    }
    for (const data of this.#data) {
      bytes.set(data, next);
      next += paddedSize(data);
    }
    return bytes;
  }
}

/** Ids are read as words, so every data item begins at a multiple of 4. */
function paddedSize({ length }: Buffer): number {
  return Math.ceil(length / 4) * 4;
}
