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
} from '../../../core/shared/plan.ts';
import type { SearchPlan } from '../host/search-plan.ts';
import { resolveLanguage } from '../../sources/languages/languages.ts';
import { QueryError } from '../regex/error.ts';
import { ALL, type Condition, withoutKnown } from '../regex/condition.ts';
import type {
  LetterCase,
  LiteralAlternative,
  LiteralChoice,
  NameLiteral,
} from '../regex/literals.ts';
import type { ListNode, PatternNode, QueryNode, RegexNode, ValueNode } from './tree.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { foldText } from '../regex/fold.ts';
import { atOnce, type Steps } from '../regex/steps.ts';
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
  /** Which of the names the program matches (engine/host/searcher.ts). */
  testNames(program: Uint8Array, names: readonly string[]): readonly boolean[];
}

/** States of all automata of one query. Bound: compiling so many takes about a second. */
export const QUERY_STATES_MAX = 100_000;

/** Programs of one query beyond which they are compiled briefly. Guess: a query of more is not written by hand. */
const PROGRAMS_MAX = 32;
/** Names of repos that are tested in one step. */
const NAMES_AT_ONCE = 256;
/** Nodes of a plan beyond which what only narrows a search is left out. */
const NODES_ENOUGH = PLAN_NODES_MAX / 4;

/** The context, what compiling may still cost, and what has been made before of equal leaves. */
interface Planning extends PlanContext {
  statesLeft: number;
  programsLeft: number;
  readonly expressions: Map<string, Expression>;
  readonly revisions: Map<string, DocsNode>;
}

/**
 * The plan of a query; without any `rev:` it is about the default revisions, and never about docs that no revision
 * holds.
 *
 * Errors: QueryError for patterns that are too large, alone or together, and for what this version cannot
 * answer, UnknownContextError.
 */
export function planQuery(query: QueryNode, context: PlanContext): PlanNode {
  return atOnce(planSteps(query, context));
}

/** As planQuery; a step is about one leaf of the query, or part of it. */
export function* planSteps(query: QueryNode, context: PlanContext): Steps<PlanNode> {
  if (countLeaves(query) > PLAN_NODES_MAX) throw tooManyConditions();
  const limits = { statesLeft: QUERY_STATES_MAX, programsLeft: PROGRAMS_MAX };
  const known = { expressions: new Map(), revisions: new Map() };
  const plan = yield* planNode(query, { ...context, ...limits, ...known });
  return context.hasRevisions ? list('and', [planLiveDocs(query, context.repos()), plan]) : plan;
}

function countLeaves(query: QueryNode): number {
  if (query.kind === 'not') return countLeaves(query.child);
  if (query.kind !== 'and' && query.kind !== 'or') return 1;
  return query.children.reduce((sum, child) => sum + countLeaves(child), 0);
}

function tooManyConditions(): QueryError {
  return new QueryError(`the query has too many conditions, limit ${PLAN_NODES_MAX}`, 0);
}

function* planNode(query: QueryNode, context: Planning): Steps<PlanNode> {
  switch (query.kind) {
    case 'const':
      return query;
    case 'not':
      return not(yield* planNode(query.child, context));
    case 'and':
    case 'or':
      return list(query.kind, yield* planChildren(query, context));
    case 'text':
      return { kind: 'text', text: query.text };
    case 'regex':
      return yield* planContentRegex(query, context);
    case 'pattern':
      return yield* planPattern(query, context);
    case 'value':
      return planValue(query, context);
  }
}

/** The children of a list; those that are about repos alone are one. Why: each may name all of many repos. */
function* planChildren({ kind, children }: ListNode, context: Planning): Steps<PlanNode[]> {
  const plans: PlanNode[] = [];
  let place: number | undefined;
  for (const child of children) {
    const plan = yield* planNode(child, context);
    yield;
    if (isOfRepos(plan) && place !== undefined)
      plans[place] = joinRepos(kind, plans[place]!, plan, context.repos());
    else if (isOfRepos(plan)) place = plans.push(plan) - 1;
    else plans.push(plan);
  }
  return plans;
}

function isOfRepos(plan: PlanNode): boolean {
  return plan.kind === 'not' ? plan.child.kind === 'repos' : plan.kind === 'repos';
}

/** One condition on repos for two of a list; a constant where nothing is left of them. */
function joinRepos(
  kind: 'and' | 'or',
  left: PlanNode,
  right: PlanNode,
  repos: readonly RepoRecord[],
): PlanNode {
  const test = repoTestOfList(kind === 'or', [repoTestOf(left), repoTestOf(right)]);
  const joined = reposNode(repos, ({ repoId }) => test(repoId) === true);
  const isMost = joined.kind === 'repos' && joined.ids.size > repos.length / 2;
  return isMost ? not(reposNode(repos, ({ repoId }) => test(repoId) !== true)) : joined;
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
function* readWithinBudget(node: RegexNode | PatternNode, context: Planning): Steps<Expression> {
  const key = `${node.kind === 'pattern' ? node.prefix : ''}:${node.pattern}`;
  const effort = { isBrief: context.programsLeft <= 0 };
  const known = context.expressions.get(key);
  const expression = known ?? (yield* expressionOf(node, effort));
  context.expressions.set(key, expression);
  if (expression.kind !== 'program') return expression;
  context.programsLeft--;
  context.statesLeft -= expression.regex.stateCount + expression.regex.reverseStateCount;
  if (context.statesLeft >= 0) return expression;
  const reason = `the regular expressions of the query are too large together, limit ${QUERY_STATES_MAX} states`;
  throw new QueryError(reason, node.position);
}

function* planContentRegex(node: RegexNode, context: Planning): Steps<PlanNode> {
  const expression = yield* readWithinBudget(node, context);
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

function* planPattern(node: PatternNode, context: Planning): Steps<PlanNode> {
  const { prefix, pattern } = node;
  const expression = yield* readWithinBudget(node, context);
  if (expression.kind === 'name') return { kind: 'symbol', pattern, literal: expression.literal };
  if (prefix === 'sym') {
    if (expression.kind !== 'program') throw new Error('the name of a symbol is a choice');
    return regexNode('symbolRegex', pattern, expression);
  }
  if (prefix === 'repo') return yield* planRepoPattern(expression, context);
  if (expression.kind === 'program') return regexNode('pathRegex', pattern, expression);
  const { alternatives, letterCase } = expression.choice;
  return list(
    'or',
    alternatives.map((literal) => planPath(literal, letterCase)),
  );
}

function* planRepoPattern(expression: ChoiceOrProgram, context: PlanContext): Steps<PlanNode> {
  const repos = context.repos();
  const kept = new Set<RepoRecord>();
  for (let start = 0; start < repos.length; start += NAMES_AT_ONCE) {
    const some = repos.slice(start, start + NAMES_AT_ONCE);
    const names = some.map(({ name }) => name);
    const matches =
      expression.kind === 'program'
        ? context.testNames(expression.regex.program, names)
        : names.map((name) => standsInName(expression.choice, name));
    for (const [index, repo] of some.entries()) if (matches[index]) kept.add(repo);
    yield;
  }
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

function planValue(node: ValueNode, context: Planning): PlanNode {
  const { value } = node;
  const repos = context.repos();
  switch (node.prefix) {
    case 'lang': {
      const name = resolveLanguage(value);
      return name === undefined ? { kind: 'const', value: false } : { kind: 'language', name };
    }
    case 'rev': {
      const plan = context.revisions.get(value) ?? planRevisions(repos, value);
      context.revisions.set(value, plan);
      return plan;
    }
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
export type RepoTest = (repoId: number) => boolean | undefined;

const depends: RepoTest = () => undefined;

/** The test of a plan, made once for all repos: of its leaves only those about repos are looked at. */
export function repoTestOf(plan: PlanNode): RepoTest {
  switch (plan.kind) {
    case 'const':
      return () => plan.value;
    case 'repos':
      return (repoId) => plan.ids.has(repoId);
    case 'not': {
      const test = repoTestOf(plan.child);
      return test === depends ? depends : (repoId) => negated(test(repoId));
    }
    case 'and':
    case 'or':
      return repoTestOfList(plan.kind === 'or', plan.children.map(repoTestOf));
    default:
      return depends;
  }
}

function negated(verdict: boolean | undefined): boolean | undefined {
  return verdict === undefined ? undefined : !verdict;
}

/** @param deciding  what one child says for the whole list */
function repoTestOfList(deciding: boolean, tests: readonly RepoTest[]): RepoTest {
  const sure = tests.filter((test) => test !== depends);
  if (sure.length === 0) return depends;
  const isSure = sure.length === tests.length;
  return (repoId) => {
    const verdicts = sure.map((test) => test(repoId));
    if (verdicts.includes(deciding)) return deciding;
    return isSure && !verdicts.includes(undefined) ? !deciding : undefined;
  };
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
  return atOnce(encodeSteps(plan, isCaseSensitive, shards));
}

/** As encodePlan; a step is about one node, or the sets of docs of one shard. */
export function* encodeSteps(
  plan: PlanNode,
  isCaseSensitive: boolean,
  shards: readonly RevisedShardView[],
): Steps<SearchPlan> {
  const encoder = new PlanEncoder(isCaseSensitive ? PLAN_FLAG_CASE_SENSITIVE : 0);
  yield* encoder.add(plan);
  const docSets = yield* docSetsFor(encoder.docsNodes, shards);
  return { bytes: encoder.bytes(), ...docSets };
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
  readonly #docsIndexes = new Map<string, number>();

  constructor(caseFlag: number) {
    this.#caseFlag = caseFlag;
  }

  /** Adds a node behind its children; returns its index. */
  *add(plan: PlanNode): Steps<number> {
    yield;
    switch (plan.kind) {
      case 'const':
        return this.#node(NODE_CONST, 0, plan.value ? 1 : 0, 0);
      case 'not':
        return this.#node(NODE_NOT, 0, yield* this.add(plan.child), 1);
      case 'and':
      case 'or': {
        const indexes: number[] = [];
        for (const child of plan.children) indexes.push(yield* this.add(child));
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
      case 'docs':
        return this.#node(NODE_DOCS, 0, this.#docsIndex(plan), 0);
    }
  }

  #docsIndex(node: DocsNode): number {
    const known = this.#docsIndexes.get(node.text);
    if (known !== undefined) return known;
    const index = this.docsNodes.push(node) - 1;
    this.#docsIndexes.set(node.text, index);
    return index;
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
      throw tooManyConditions();
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
