// Compiles a syntax tree into the program for the core and the condition for the index. Done once a request.

import { PROGRAM_STATES_MAX } from '../../../core/shared/program.ts';
import { type Automaton, StateLimitError, STEPS_PER_STATE } from './automaton.ts';
import { type MatchStart, matchStartOf } from './match-start.ts';
import { ALL, type Condition, countLiterals, mapTexts, NONE, printCondition } from './condition.ts';
import { QueryError } from './query-error.ts';
import { foldText } from './fold.ts';
import { chooseNeedles, type Needles, NO_NEEDLES } from './needles.ts';
import { encodeProgram } from './program.ts';
import { simplify } from './simplify.ts';
import type { Steps } from '../../base/steps.ts';
import { conditionOf, requiredTextsOf } from './required-texts.ts';
import { compileTree } from './thompson.ts';
import { canBeEmpty, canBeFilled, spansLines } from './traits.ts';
import type { SimpleTree } from './simple-tree.ts';
import type { RegexTree } from './tree.ts';

/** Most states of the forward automaton. */
export const PROGRAM_COUNT_MAX = 10_000;
/** Literals of conditions: folded, and of at least three code points, since shorter ones have no gram. */
const FOLDED_TEXTS = { isFolded: true, literalMin: 3 };

export interface CompileOptions {
  readonly position?: number;
  /**
   * Default: contents. Contents are selected by the index with `condition` and `matchStart`, symbols with `condition`; for
   * names the condition is only whether one can match.
   */
  readonly subject?: 'content' | 'symbol' | 'name';
  /**
   * Takes a fifth of the time, leaves more to read: no gaps, names with case-insensitive needles, symbols without needles or
   * exact condition. Measured: 2026-11-22: 1,900 paths by 10,600: 280 ms, without needles 2,200.
   */
  readonly isBrief?: boolean;
}

export interface CompiledRegex {
  /** Layout: core/shared/program.ts. */
  readonly program: Uint8Array;
  /** Required in every non-empty match; literals are folded, of at least 3 code points, without newline. */
  readonly condition: Condition;
  /** The same with literals as written, if all of them are case-sensitive; not together with `matchStart`. */
  readonly exactCondition?: Condition;
  /** Where matches that may span lines can begin; absent: none spans lines. */
  readonly matchStart?: MatchStart;
  readonly needles: Needles;
  readonly spansLines: boolean;
  readonly canBeEmpty: boolean;
  /** Numbers of states of the forward and the reverse automaton. */
  readonly stateCount: number;
  readonly reverseStateCount: number;
}

/**
 * A step takes at most some 10 ms. Errors: QueryError at `position` if the automata have too many states, or take too many
 * steps; raised before more are made.
 */
export function* compileSteps(tree: RegexTree, options: CompileOptions): Steps<CompiledRegex> {
  const { position = 0, subject = 'content', isBrief = false } = options;
  const simple = simplify(tree);
  yield;
  const { forward, reverse } = yield* automataOf(simple, position);
  yield;
  const traits = { spansLines: spansLines(simple), canBeEmpty: canBeEmpty(simple) };
  const needles =
    isBrief && subject === 'symbol'
      ? NO_NEEDLES
      : yield* chooseNeedles(simple, traits.spansLines, forward, isBrief && subject === 'name');
  yield;
  const conditions = yield* conditionsOf(simple, traits.spansLines, options);
  return {
    program: encodeProgram({ forward, reverse, needles, ...traits }),
    ...conditions,
    needles,
    ...traits,
    stateCount: forward.states.length,
    reverseStateCount: reverse.states.length,
  };
}

function* conditionsOf(
  tree: SimpleTree,
  spansLines: boolean,
  { subject = 'content', isBrief = false }: CompileOptions,
): Steps<Pick<CompiledRegex, 'condition' | 'exactCondition' | 'matchStart'>> {
  if (subject === 'name') return { condition: canBeFilled(tree) ? ALL : NONE };
  const condition = conditionOfMatches(tree, true);
  yield;
  if (subject === 'content' && spansLines) {
    const matchStart = yield* matchStartOf(tree, { ...FOLDED_TEXTS, hasGaps: !isBrief });
    return { condition, matchStart };
  }
  const needsExact = !isBrief || subject === 'content';
  const exactCondition = needsExact ? exactConditionOf(tree, condition) : undefined;
  return exactCondition === undefined ? { condition } : { condition, exactCondition };
}

/** Required in every non-empty match of `tree`. */
function conditionOfMatches(tree: SimpleTree, isFolded: boolean): Condition {
  const options = { ...FOLDED_TEXTS, isFolded };
  const { texts } = requiredTextsOf(tree, options);
  return texts === undefined ? NONE : conditionOf(texts, options);
}

/** The condition in exact case, if it implies `folded`. */
function exactConditionOf(tree: SimpleTree, folded: Condition): Condition | undefined {
  if (countLiterals(folded) === 0) return undefined;
  const exact = conditionOfMatches(tree, false);
  const isSame = printCondition(mapTexts(exact, foldText)) === printCondition(folded);
  return isSame ? exact : undefined;
}

function* automataOf(
  tree: SimpleTree,
  position: number,
): Steps<{ forward: Automaton; reverse: Automaton }> {
  const stepsMax = STEPS_PER_STATE * PROGRAM_COUNT_MAX;
  try {
    const forward = compileTree(tree, false, PROGRAM_COUNT_MAX, stepsMax);
    yield;
    const rest = PROGRAM_STATES_MAX - forward.states.length;
    return { forward, reverse: compileTree(tree, true, rest, stepsMax) };
  } catch (error) {
    if (!(error instanceof StateLimitError)) throw error;
    const limit = error.isTooMuchWork
      ? `${stepsMax} steps to compile`
      : `${PROGRAM_COUNT_MAX} states`;
    throw new QueryError(`regular expression: too large, limit ${limit}`, position);
  }
}
