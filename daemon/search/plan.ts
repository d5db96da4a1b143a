// Translates a parsed query into a plan for the core (core/shared/plan.ts). Filters over repos are decided
// here, once: each becomes the set of repos it holds for. Regular expressions are answered as far as they
// are a choice of literals; anything beyond is refused with its position.

import {
  NODE_AND,
  NODE_CONST,
  NODE_LANGUAGE,
  NODE_NOT,
  NODE_OR,
  NODE_PATH,
  NODE_REPOS,
  NODE_TEXT,
  PLAN_CHILD_COUNT_OFFSET,
  PLAN_DATA_SIZE_OFFSET,
  PLAN_FLAG_AT_END,
  PLAN_FLAG_AT_START,
  PLAN_FLAG_CASE_SENSITIVE,
  PLAN_HEADER_SIZE,
  PLAN_NODE_COUNT_OFFSET,
  PLAN_NODE_FIRST_OFFSET,
  PLAN_NODE_FLAGS_OFFSET,
  PLAN_NODE_KIND_OFFSET,
  PLAN_NODE_SIZE,
  PLAN_NODE_SIZE_OFFSET,
  PLAN_NODES_MAX,
} from '../../core/shared/plan.ts';
import { resolveLanguage } from '../ingest/languages.ts';
import { QueryError } from '../regex/error.ts';
import { type LiteralAlternative, reduceToLiterals } from '../regex/literals.ts';
import { parseRegex } from '../regex/syntax.ts';
import type { QueryNode, ValueNode } from '../query/tree.ts';
import type { RepoRecord } from '../repos/records.ts';

/** A node of the plan before it is encoded. */
export type PlanNode =
  | { readonly kind: 'const'; readonly value: boolean }
  | { readonly kind: 'and' | 'or'; readonly children: readonly PlanNode[] }
  | { readonly kind: 'not'; readonly child: PlanNode }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly literal: LiteralAlternative }
  | { readonly kind: 'language'; readonly name: string }
  | { readonly kind: 'repos'; readonly ids: ReadonlySet<number> };

/** A query asks for a search context, and contexts need an entitlement that is not there. */
export class EntitlementError extends Error {
  readonly errorCode = 'INSUFFICIENT_PERMISSIONS';
}

/**
 * The plan of a query over the given repos.
 *
 * Errors: QueryError for what this version cannot answer, EntitlementError.
 */
export function planQuery(query: QueryNode, repos: readonly RepoRecord[]): PlanNode {
  switch (query.kind) {
    case 'const':
      return query;
    case 'not':
      return not(planQuery(query.child, repos));
    case 'and':
    case 'or':
      return list(
        query.kind,
        query.children.map((child) => planQuery(child, repos)),
      );
    case 'text':
      return { kind: 'text', text: query.text };
    case 'regex':
      return planContentRegex(query.pattern, query.position);
    case 'pattern':
      return planPattern(query.prefix, query.pattern, query.position, repos);
    case 'value':
      return planValue(query, repos);
  }
}

const ALWAYS: PlanNode = { kind: 'const', value: true };

function not(child: PlanNode): PlanNode {
  if (child.kind === 'const') return { kind: 'const', value: !child.value };
  const isAlwaysTrue = child.kind === 'or' && child.children.includes(ALWAYS);
  return isAlwaysTrue ? { kind: 'const', value: false } : { kind: 'not', child };
}

/** AND or OR with constants folded. */
function list(kind: 'and' | 'or', children: readonly PlanNode[]): PlanNode {
  const deciding = kind === 'or';
  const rest = children.filter((child) => child.kind !== 'const');
  if (children.some((child) => child.kind === 'const' && child.value === deciding)) {
    // Why: an OR that holds anyhow still shows where its literals stand.
    return deciding && rest.some(hasRanges)
      ? { kind, children: [ALWAYS, ...rest] }
      : { kind: 'const', value: deciding };
  }
  if (rest.length === 0) return { kind: 'const', value: !deciding };
  return rest.length === 1 ? rest[0]! : { kind, children: rest };
}

/** Whether a doc that the plan holds for may have ranges by it. */
function hasRanges(plan: PlanNode): boolean {
  if (plan.kind === 'and' || plan.kind === 'or') return plan.children.some(hasRanges);
  return plan.kind === 'text' || plan.kind === 'path';
}

function planContentRegex(pattern: string, position: number): PlanNode {
  const choice = reduceToLiterals(parseRegex(pattern, { position }), 'content');
  const texts = choice?.alternatives ?? [];
  const isPlain = texts.every(({ anchoredStart, anchoredEnd }) => !anchoredStart && !anchoredEnd);
  // Where one literal begins another, which of them matches would depend on their order.
  const isPrefixFree = texts.every(({ text }, i) =>
    texts.every((other, j) => i === j || !other.text.startsWith(text)),
  );
  if (choice === undefined || choice.letterCase === 'folded' || !isPlain || !isPrefixFree) {
    throw unsupportedRegex(position);
  }
  return list(
    'or',
    texts.map(({ text }) => ({ kind: 'text', text })),
  );
}

function unsupportedRegex(position: number): QueryError {
  const reason =
    'this version answers only regular expressions that are literals or a choice of literals; ' +
    'to search a character such as the dot for itself, put a backslash before it';
  return new QueryError(reason, position);
}

function planPattern(
  prefix: 'repo' | 'file' | 'sym',
  pattern: string,
  position: number,
  repos: readonly RepoRecord[],
): PlanNode {
  if (prefix === 'sym') throw new QueryError('this version does not index symbols', position);
  const choice = reduceToLiterals(parseRegex(pattern, { position }), 'name');
  if (choice === undefined || choice.letterCase === 'folded') throw unsupportedRegex(position);
  if (prefix === 'file') {
    return list(
      'or',
      choice.alternatives.map((literal) => planPath(literal)),
    );
  }
  return reposNode(repos, ({ name }) => choice.alternatives.some((one) => standsIn(one, name)));
}

function planPath(literal: LiteralAlternative): PlanNode {
  if (literal.text !== '') return { kind: 'path', literal };
  // Only a path of no characters begins where it ends.
  return { kind: 'const', value: !(literal.anchoredStart && literal.anchoredEnd) };
}

function standsIn({ text, anchoredStart, anchoredEnd }: LiteralAlternative, name: string): boolean {
  if (anchoredStart && anchoredEnd) return name === text;
  if (anchoredStart) return name.startsWith(text);
  return anchoredEnd ? name.endsWith(text) : name.includes(text);
}

/** The repos that a condition holds for; a constant if it holds for all or none. */
function reposNode(repos: readonly RepoRecord[], holds: (repo: RepoRecord) => boolean): PlanNode {
  const ids = repos.filter(holds).map((repo) => repo.repoId);
  if (ids.length === 0) return { kind: 'const', value: false };
  return ids.length === repos.length
    ? { kind: 'const', value: true }
    : { kind: 'repos', ids: new Set(ids) };
}

function planValue(node: ValueNode, repos: readonly RepoRecord[]): PlanNode {
  const { value } = node;
  switch (node.prefix) {
    case 'lang': {
      const name = resolveLanguage(value);
      return name === undefined ? { kind: 'const', value: false } : { kind: 'language', name };
    }
    case 'rev':
      return reposNode(repos, (repo) => hasRevision(repo, value));
    case 'reposet': {
      const names = new Set(value.split(','));
      return reposNode(repos, (repo) => names.has(repo.name));
    }
    case 'archived':
      return reposNode(repos, (repo) => isKept(value, repo.isArchived));
    case 'fork':
      return reposNode(repos, (repo) => isKept(value, repo.isFork));
    case 'visibility':
      return reposNode(repos, (repo) => isVisible(value, repo.visibility));
    case 'context':
      throw new EntitlementError('Search contexts need the entitlement search-contexts.');
  }
}

function hasRevision(repo: RepoRecord, text: string): boolean {
  return text === '*' || text === 'HEAD' || repo.defaultRevision.includes(text);
}

function isKept(value: string, has: boolean): boolean {
  return value === 'yes' || (value === 'only') === has;
}

function isVisible(value: string, visibility: RepoRecord['visibility']): boolean {
  return value === 'any' || (value === 'public') === (visibility === 'public');
}

/** What a plan says about a repo: false: no doc of it can match; true: all do; undefined: it depends. */
export function decideForRepo(plan: PlanNode, repoId: number): boolean | undefined {
  switch (plan.kind) {
    case 'const':
      return plan.value;
    case 'repos':
      return plan.ids.has(repoId);
    case 'not': {
      const child = decideForRepo(plan.child, repoId);
      return child === undefined ? undefined : !child;
    }
    case 'and':
    case 'or': {
      const deciding = plan.kind === 'or';
      const verdicts = plan.children.map((child) => decideForRepo(child, repoId));
      if (verdicts.includes(deciding)) return deciding;
      return verdicts.includes(undefined) ? undefined : !deciding;
    }
    default:
      return undefined;
  }
}

/** Encodes a plan for the core. Errors: QueryError if it has too many nodes. */
export function encodePlan(plan: PlanNode, isCaseSensitive: boolean): Uint8Array {
  const encoder = new PlanEncoder(isCaseSensitive ? PLAN_FLAG_CASE_SENSITIVE : 0);
  encoder.add(plan);
  return encoder.bytes();
}

class PlanEncoder {
  readonly #caseFlag: number;
  readonly #nodes: { kind: number; flags: number; first: number; size: number }[] = [];
  readonly #children: number[] = [];
  readonly #data: Buffer[] = [];
  #dataSize = 0;

  constructor(caseFlag: number) {
    this.#caseFlag = caseFlag;
  }

  /** Adds a node behind its children; returns its index. */
  add(plan: PlanNode): number {
    switch (plan.kind) {
      case 'const':
        return this.#node(NODE_CONST, 0, plan.value ? 1 : 0, 0);
      case 'not':
        return this.#node(NODE_NOT, 0, this.add(plan.child), 1);
      case 'and':
      case 'or': {
        const indexes = plan.children.map((child) => this.add(child));
        const first = this.#children.length;
        this.#children.push(...indexes);
        return this.#node(plan.kind === 'and' ? NODE_AND : NODE_OR, 0, first, indexes.length);
      }
      case 'text':
        return this.#leaf(NODE_TEXT, this.#caseFlag, Buffer.from(plan.text));
      case 'path': {
        const { text, anchoredStart, anchoredEnd } = plan.literal;
        const start = anchoredStart ? PLAN_FLAG_AT_START : 0;
        const end = anchoredEnd ? PLAN_FLAG_AT_END : 0;
        return this.#leaf(NODE_PATH, this.#caseFlag | start | end, Buffer.from(text));
      }
      case 'language':
        return this.#leaf(NODE_LANGUAGE, 0, Buffer.from(plan.name));
      case 'repos': {
        const ids = Uint32Array.from(plan.ids).sort();
        return this.#leaf(NODE_REPOS, 0, Buffer.from(ids.buffer));
      }
    }
  }

  #leaf(kind: number, flags: number, data: Buffer): number {
    const offset = this.#dataSize;
    // Ids are read as words, so every piece of data begins at a multiple of 4.
    const padded = Buffer.alloc(Math.ceil(data.length / 4) * 4);
    data.copy(padded);
    this.#data.push(padded);
    this.#dataSize += padded.length;
    return this.#node(kind, flags, offset, data.length);
  }

  #node(kind: number, flags: number, first: number, size: number): number {
    if (this.#nodes.length === PLAN_NODES_MAX) {
      throw new QueryError(`the query has too many conditions, limit ${PLAN_NODES_MAX}`, 0);
    }
    return this.#nodes.push({ kind, flags, first, size }) - 1;
  }

  bytes(): Uint8Array {
    const nodesSize = this.#nodes.length * PLAN_NODE_SIZE;
    const head = Buffer.alloc(PLAN_HEADER_SIZE + nodesSize + this.#children.length * 4);
    head.writeUInt32LE(this.#nodes.length, PLAN_NODE_COUNT_OFFSET);
    head.writeUInt32LE(this.#children.length, PLAN_CHILD_COUNT_OFFSET);
    head.writeUInt32LE(this.#dataSize, PLAN_DATA_SIZE_OFFSET);
    for (const [index, { kind, flags, first, size }] of this.#nodes.entries()) {
      const row = PLAN_HEADER_SIZE + index * PLAN_NODE_SIZE;
      head.writeUInt32LE(kind, row + PLAN_NODE_KIND_OFFSET);
      head.writeUInt32LE(flags, row + PLAN_NODE_FLAGS_OFFSET);
      head.writeUInt32LE(first, row + PLAN_NODE_FIRST_OFFSET);
      head.writeUInt32LE(size, row + PLAN_NODE_SIZE_OFFSET);
    }
    for (const [index, child] of this.#children.entries()) {
      head.writeUInt32LE(child, PLAN_HEADER_SIZE + nodesSize + index * 4);
    }
    return Buffer.concat([head, ...this.#data]);
  }
}
