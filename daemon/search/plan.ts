// Translates a parsed query into a plan for the core (core/shared/plan.ts). Filters over repos are decided
// here, once: each becomes the set of repos it holds for.

import {
  NODE_AND,
  NODE_CONST,
  NODE_DOCS,
  NODE_GRAMS,
  NODE_LANGUAGE,
  NODE_NOT,
  NODE_OR,
  NODE_PATH,
  NODE_PATH_REGEX,
  NODE_REGEX,
  NODE_REPOS,
  NODE_TAG,
  NODE_TAG_REGEX,
  NODE_TEXT,
  PLAN_CHILD_COUNT_OFFSET,
  PLAN_DATA_SIZE_OFFSET,
  PLAN_FLAG_ALWAYS,
  PLAN_FLAG_AT_END,
  PLAN_FLAG_AT_START,
  PLAN_FLAG_CASE_SENSITIVE,
  PLAN_FLAG_LITERALS,
  PLAN_FLAG_WORD_END,
  PLAN_FLAG_WORD_START,
  PLAN_HEADER_SIZE,
  PLAN_NODE_COUNT_OFFSET,
  PLAN_NODE_FIRST_OFFSET,
  PLAN_NODE_FLAGS_OFFSET,
  PLAN_NODE_KIND_OFFSET,
  PLAN_NODE_SIZE,
  PLAN_NODE_SIZE_OFFSET,
  PLAN_NODES_MAX,
  REGEX_CHAIN_OFFSET,
  REGEX_CONDITION_OFFSET,
  REGEX_HEAD_SIZE,
  REGEX_NEAR_OFFSET,
  REGEX_START_OFFSET,
} from '../../core/shared/plan.ts';
import type { SearchPlan } from '../engine/search-plan.ts';
import { resolveLanguage } from '../ingest/languages.ts';
import { QueryError } from '../regex/error.ts';
import { ALL, type Condition, withoutKnown } from '../regex/condition.ts';
import type {
  LetterCase,
  LiteralAlternative,
  LiteralChoice,
  NameLiteral,
} from '../regex/literals.ts';
import type { PatternNode, QueryNode, RegexNode, ValueNode } from '../query/tree.ts';
import type { RepoRecord } from '../repos/records.ts';
import { foldText } from '../regex/fold.ts';
import {
  type ChoiceOrProgram,
  type Expression,
  expressionOf,
  type ProgramExpression,
} from './expressions.ts';
import {
  docSetsFor,
  type DocsNode,
  planLiveDocs,
  planRevisions,
  type RevisedShardView,
} from './revisions.ts';

/** Leaf: the content, the path, or the name of a symbol has a match of an expression. */
export interface ExpressionNode {
  readonly kind: 'regex' | 'pathRegex' | 'symbolRegex';
  /** As the query says it. */
  readonly pattern: string;
  readonly expression: ProgramExpression;
}

/** A node of the plan before it is encoded. */
export type PlanNode =
  | { readonly kind: 'const'; readonly value: boolean }
  | { readonly kind: 'and' | 'or'; readonly children: readonly PlanNode[] }
  | { readonly kind: 'not'; readonly child: PlanNode }
  | { readonly kind: 'text'; readonly text: string; readonly letterCase?: LetterCase }
  | {
      readonly kind: 'path';
      readonly literal: LiteralAlternative;
      readonly letterCase?: LetterCase;
    }
  | ExpressionNode
  | { readonly kind: 'symbol'; readonly pattern: string; readonly literal: NameLiteral }
  | { readonly kind: 'language'; readonly name: string }
  | { readonly kind: 'repos'; readonly ids: ReadonlySet<number> }
  | DocsNode;

/** A query asks for a search context that there is not. */
export class UnknownContextError extends Error {
  readonly errorCode = 'SEARCH_CONTEXT_NOT_FOUND';
}

/** What a plan depends on beside its query. */
export interface PlanContext {
  /** Asked for by queries that are about repos. */
  readonly repos: () => readonly RepoRecord[];
  /** Some of them have more revisions than the default one. */
  readonly hasRevisions: boolean;
  readonly isCaseSensitive: boolean;
  /** Which of the names the program matches (engine/searcher.ts). */
  testNames(program: Uint8Array, names: readonly string[]): readonly boolean[];
}

/** States of all automata of one query. Bound: compiling so many takes about a second. */
export const QUERY_STATES_MAX = 100_000;

/** Programs of one query beyond which they are compiled briefly. Guess: a query of more is not written by hand. */
const PROGRAMS_MAX = 32;
/** Nodes of a plan beyond which what only narrows a search is left out. */
const NODES_ENOUGH = PLAN_NODES_MAX / 4;

/** The context, and what compiling may still cost. */
interface Planning extends PlanContext {
  statesLeft: number;
  programsLeft: number;
}

/**
 * The plan of a query; without any `rev:` it is about the default revisions, and never about docs that no revision
 * holds.
 *
 * Errors: QueryError for patterns that are too large, alone or together, and for what this version cannot
 * answer, UnknownContextError.
 */
export function planQuery(query: QueryNode, context: PlanContext): PlanNode {
  const limits = { statesLeft: QUERY_STATES_MAX, programsLeft: PROGRAMS_MAX };
  const plan = planNode(query, { ...context, ...limits });
  return context.hasRevisions ? list('and', [planLiveDocs(query, context.repos()), plan]) : plan;
}

function planNode(query: QueryNode, context: Planning): PlanNode {
  switch (query.kind) {
    case 'const':
      return query;
    case 'not':
      return not(planNode(query.child, context));
    case 'and':
    case 'or':
      return list(
        query.kind,
        query.children.map((child) => planNode(child, context)),
      );
    case 'text':
      return { kind: 'text', text: query.text };
    case 'regex':
      return planContentRegex(query, context);
    case 'pattern':
      return planPattern(query, context);
    case 'value':
      return planValue(query, context.repos());
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
  const others = children.filter((child) => child.kind !== 'const');
  // Sets of docs first: where they leave none, nothing else is looked up.
  const rest = kind === 'or' ? others : others.sort((a, b) => docsFirst(a) - docsFirst(b));
  if (children.some((child) => child.kind === 'const' && child.value === deciding)) {
    // Why: an OR that holds anyhow still shows where its literals stand.
    return deciding && rest.some(hasRanges)
      ? { kind, children: [ALWAYS, ...rest] }
      : { kind: 'const', value: deciding };
  }
  if (rest.length === 0) return { kind: 'const', value: !deciding };
  return rest.length === 1 ? rest[0]! : { kind, children: rest };
}

function docsFirst(plan: PlanNode): number {
  return plan.kind === 'docs' ? 0 : 1;
}

const ATOM_KINDS: ReadonlySet<string> = new Set<PlanNode['kind']>([
  'text',
  'path',
  'regex',
  'pathRegex',
  'symbol',
  'symbolRegex',
]);

/** Whether a doc that the plan holds for may have ranges by it. */
function hasRanges(plan: PlanNode): boolean {
  if (plan.kind === 'and' || plan.kind === 'or') return plan.children.some(hasRanges);
  return ATOM_KINDS.has(plan.kind);
}

/** Reads an expression and takes its states from what is left. */
function readWithinBudget(node: RegexNode | PatternNode, context: Planning): Expression {
  const expression = expressionOf(node, context.isCaseSensitive, context.programsLeft <= 0);
  if (expression.kind !== 'program') return expression;
  context.programsLeft--;
  context.statesLeft -= expression.regex.stateCount + expression.regex.reverseStateCount;
  if (context.statesLeft >= 0) return expression;
  const reason = `the regular expressions of the query are too large together, limit ${QUERY_STATES_MAX} states`;
  throw new QueryError(reason, node.position);
}

function planContentRegex(node: RegexNode, context: Planning): PlanNode {
  const expression = readWithinBudget(node, context);
  if (expression.kind === 'program') return regexNode('regex', node.pattern, expression);
  if (expression.kind === 'name') throw new Error('content has no names');
  const { alternatives, letterCase } = expression.choice;
  return list(
    'or',
    alternatives.map(({ text }) => ({ kind: 'text', text, letterCase })),
  );
}

function regexNode(
  kind: ExpressionNode['kind'],
  pattern: string,
  expression: ProgramExpression,
): PlanNode {
  const { condition, canBeEmpty } = expression.regex;
  const isImpossible = condition.kind === 'none' && !(kind === 'pathRegex' && canBeEmpty);
  return isImpossible ? { kind: 'const', value: false } : { kind, pattern, expression };
}

function planPattern(node: PatternNode, context: Planning): PlanNode {
  const { prefix, pattern } = node;
  const expression = readWithinBudget(node, context);
  if (expression.kind === 'name') return { kind: 'symbol', pattern, literal: expression.literal };
  if (prefix === 'sym') {
    if (expression.kind !== 'program') throw new Error('the name of a symbol is a choice');
    return regexNode('symbolRegex', pattern, expression);
  }
  if (prefix === 'repo') return planRepoPattern(expression, context);
  if (expression.kind === 'program') return regexNode('pathRegex', pattern, expression);
  const { alternatives, letterCase } = expression.choice;
  return list(
    'or',
    alternatives.map((literal) => planPath(literal, letterCase)),
  );
}

function planRepoPattern(expression: ChoiceOrProgram, context: PlanContext): PlanNode {
  const repos = context.repos();
  const names = repos.map(({ name }) => name);
  const matches =
    expression.kind === 'program'
      ? context.testNames(expression.regex.program, names)
      : names.map((name) => standsInName(expression.choice, name));
  const kept = new Set(repos.filter((_, index) => matches[index]));
  return reposNode(repos, (repo) => kept.has(repo));
}

function standsInName({ alternatives, letterCase }: LiteralChoice, name: string): boolean {
  const compared = letterCase === 'folded' ? foldText(name) : name;
  return alternatives.some((one) => standsIn(one, compared));
}

function planPath(literal: LiteralAlternative, letterCase: LetterCase): PlanNode {
  if (literal.text !== '') return { kind: 'path', literal, letterCase };
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
      return planRevisions(repos, value);
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
      throw new UnknownContextError(`Search context ${JSON.stringify(value)} not found.`);
  }
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

/**
 * Encodes a plan for the core.
 *
 * @param shards  those it is to run on, for the docs of revisions
 * Errors: QueryError if it has too many nodes.
 */
export function encodePlan(
  plan: PlanNode,
  isCaseSensitive: boolean,
  shards: readonly RevisedShardView[] = [],
): SearchPlan {
  const encoder = new PlanEncoder(isCaseSensitive ? PLAN_FLAG_CASE_SENSITIVE : 0);
  encoder.add(plan);
  return { bytes: encoder.bytes(), ...docSetsFor(encoder.docsNodes, shards) };
}

const START_FLAGS = { any: 0, word: PLAN_FLAG_WORD_START, name: PLAN_FLAG_AT_START };
const END_FLAGS = { any: 0, word: PLAN_FLAG_WORD_END, name: PLAN_FLAG_AT_END };

class PlanEncoder {
  readonly #caseFlag: number;
  readonly #nodes: { kind: number; flags: number; first: number; size: number }[] = [];
  readonly #children: number[] = [];
  readonly #data: Buffer[] = [];
  #dataSize = 0;
  /** The distinct DOCS leaves, by the index that their nodes hold. */
  readonly docsNodes: DocsNode[] = [];

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
        return this.#leaf(NODE_TEXT, this.#flagOf(plan.letterCase), Buffer.from(plan.text));
      case 'regex':
        return this.#expression(NODE_REGEX, plan.expression, this.#headOf(plan.expression));
      case 'pathRegex':
        return this.#expression(NODE_PATH_REGEX, plan.expression, Buffer.alloc(REGEX_HEAD_SIZE));
      case 'symbolRegex':
        return this.#expression(NODE_TAG_REGEX, plan.expression, this.#lineHeadOf(plan.expression));
      case 'symbol': {
        const { text, letterCase, start, end } = plan.literal;
        const flags = this.#flagOf(letterCase) | START_FLAGS[start] | END_FLAGS[end];
        return this.#leaf(NODE_TAG, flags, Buffer.from(text));
      }
      case 'path': {
        const { text, anchoredStart, anchoredEnd } = plan.literal;
        const start = anchoredStart ? PLAN_FLAG_AT_START : 0;
        const end = anchoredEnd ? PLAN_FLAG_AT_END : 0;
        const flags = this.#flagOf(plan.letterCase) | start | end;
        return this.#leaf(NODE_PATH, flags, Buffer.from(text));
      }
      case 'language':
        return this.#leaf(NODE_LANGUAGE, 0, Buffer.from(plan.name));
      case 'repos': {
        const ids = Uint32Array.from(plan.ids).sort();
        return this.#leaf(NODE_REPOS, 0, Buffer.from(ids.buffer));
      }
      case 'docs': {
        const known = this.docsNodes.findIndex(({ text }) => text === plan.text);
        return this.#node(NODE_DOCS, 0, known < 0 ? this.docsNodes.push(plan) - 1 : known, 0);
      }
    }
  }

  /** `undefined`: as the request says. Of a literal without letters either would do. */
  #flagOf(letterCase: LetterCase | undefined): number {
    if (letterCase === undefined) return this.#caseFlag;
    return letterCase === 'folded' ? 0 : PLAN_FLAG_CASE_SENSITIVE;
  }

  /** The head of an expression whose matches lie in one line; adds the nodes of its condition. */
  #lineHeadOf({ regex: { condition, exactCondition } }: ProgramExpression): Buffer {
    const head = Buffer.alloc(REGEX_HEAD_SIZE);
    const flags = exactCondition === undefined ? 0 : PLAN_FLAG_CASE_SENSITIVE;
    const known = this.#condition(exactCondition ?? condition, flags);
    head.writeUInt32LE(known, REGEX_CONDITION_OFFSET);
    return head;
  }

  /** The head of an expression of contents; adds the nodes of its conditions. */
  #headOf(expression: ProgramExpression): Buffer {
    const { condition, beginning } = expression.regex;
    if (beginning === undefined) return this.#lineHeadOf(expression);
    const head = Buffer.alloc(REGEX_HEAD_SIZE);
    const { start, near, bytes } = beginning;
    // What the start says already, all docs that are left hold.
    const rest = withoutKnown(condition, start);
    head.writeUInt32LE(this.#condition(rest, 0), REGEX_CONDITION_OFFSET);
    head.writeUInt32LE(this.#condition(start, 0), REGEX_START_OFFSET);
    const known = this.#nodes.length < NODES_ENOUGH ? near : ALL;
    head.writeUInt32LE(this.#condition(known, 0), REGEX_NEAR_OFFSET);
    head.set(bytes, REGEX_CHAIN_OFFSET);
    return head;
  }

  #expression(
    kind: number,
    { regex: { program }, isChoice, holdsAlways }: ProgramExpression,
    head: Buffer,
  ): number {
    const flags = (isChoice ? PLAN_FLAG_LITERALS : 0) | (holdsAlways ? PLAN_FLAG_ALWAYS : 0);
    return this.#leaf(kind, flags, Buffer.concat([head, program]));
  }

  /** Adds the nodes of a condition; returns the index of its root plus one, 0: it says nothing. */
  #condition(condition: Condition, flags: number): number {
    switch (condition.kind) {
      case 'all':
        return 0;
      case 'literal':
        return this.#leaf(NODE_GRAMS, flags, Buffer.from(condition.text)) + 1;
      case 'and':
      case 'or': {
        const indexes = condition.children.map((child) => this.#condition(child, flags) - 1);
        const first = this.#children.length;
        this.#children.push(...indexes);
        const kind = condition.kind === 'and' ? NODE_AND : NODE_OR;
        return this.#node(kind, 0, first, indexes.length) + 1;
      }
      case 'none':
        throw new Error('a condition that never holds has no plan');
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
