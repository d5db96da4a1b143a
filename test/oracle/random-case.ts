// Random corpora in several repos and shards with random queries, and the check of one such case against the slow
// search.

import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { buildShard, buildSharedShard, type Engine, repoRecord } from '../engine/host/harness.ts';
import type { QueryNode } from '../../daemon/engine/query/tree.ts';
import { atOnce } from '../../daemon/base/steps.ts';
import { parseRegex } from '../../daemon/engine/regex/syntax.ts';
import { type Expression, expressionOf } from '../../daemon/engine/query/expressions.ts';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import { checkAnswer, checkBest } from './compare.ts';
import {
  type Corpus,
  corpusArbitrary,
  type OracleQuery,
  queryArbitrary,
  REPO_NAMES,
} from './corpora.ts';

const QUERIES_PER_CORPUS = 16;

export interface Case {
  readonly corpus: Corpus;
  readonly queries: readonly {
    readonly query: OracleQuery;
    readonly matches: number;
    readonly contextLines: number;
    readonly isCaseSensitive: boolean;
  }[];
}

export const caseArbitrary: fc.Arbitrary<Case> = corpusArbitrary.chain((corpus) =>
  fc.record({
    corpus: fc.constant(corpus),
    queries: fc.array(
      fc.record({
        query: queryArbitrary(corpus),
        matches: fc.constantFrom(1, 2, 3, 5, 17, 100_000, 100_000, 100_000),
        contextLines: fc.constantFrom(0, 0, 1, 2, 3),
        isCaseSensitive: fc.boolean(),
      }),
      { minLength: QUERIES_PER_CORPUS, maxLength: QUERIES_PER_CORPUS },
    ),
  }),
);

export const REPOS = REPO_NAMES.map((name, index) => ({
  ...repoRecord(index + 1, name),
  source: { kind: 'commits', path: '' } as const,
}));

/** The first half of the docs in a shard for each repo, the other half in one that all repos share. */
export function shardsOf(module: WebAssembly.Module, folder: string, corpus: Corpus): LiveShard[] {
  const docsOf = ({ name }: { name: string }, shard: number) =>
    corpus.docs.filter((doc, index) => doc.repo === name && corpus.shardOf[index] === shard);
  const withDocs = (shard: number) =>
    REPOS.map((repo) => ({ ...repo, docs: docsOf(repo, shard) })).filter(
      ({ docs }) => docs.length > 0,
    );
  const own = withDocs(0).map(({ docs, ...repo }) => buildShard(module, folder, repo, docs));
  const sharers = withDocs(1);
  return sharers.length === 0 ? own : [...own, buildSharedShard(module, folder, sharers)];
}

/**
 * Searches the corpus for each query; returns how often an expression was run on a block, and for how many queries
 * look-ups of expressions were compared. Errors: what differs.
 */
export async function checkCase(
  engine: Engine,
  { corpus, queries }: Case,
  shards = shardsOf(engine.module, engine.folder, corpus),
): Promise<{ regexRunCount: number; comparedCount: number }> {
  let regexRunCount = 0;
  let comparedCount = 0;
  engine.publish(shards, REPOS);
  for (const { query, ...options } of queries) {
    const { matches, contextLines, isCaseSensitive } = options;
    // Every other answer has all members.
    const hasFields = contextLines % 2 === 0;
    const request = {
      ...(hasFields ? {} : { fields: [] }),
      matches,
      contextLines,
      isRegexEnabled: query.isRegexEnabled,
      isCaseSensitivityEnabled: isCaseSensitive,
    };
    const requested = {
      query: query.tree,
      isRegexEnabled: query.isRegexEnabled,
      hasFields,
      ...options,
    };
    const answer = await engine.search(query.text, request);
    try {
      checkAnswer(corpus.docs, requested, answer);
      if (contextLines === 1)
        checkBest(corpus.docs, requested, answer, await engine.explain(query.text, request));
      if (!hasFields)
        for (const file of answer.files) assert.ok(!('score' in file) && !('blobSha' in file));
      regexRunCount += answer.stats['regexpsConsidered']!;
      if (answer.isSearchExhaustive && (await checkFlipped(engine, query, options, answer)))
        comparedCount++;
    } catch (error) {
      const text = `${query.text} ${JSON.stringify(options)}`;
      throw new Error(`query ${text}: ${(error as Error).message}`, { cause: error });
    }
  }
  return { regexRunCount, comparedCount };
}

/**
 * S13 and S15: letter case never changes what is looked up, nor do `whole` and context what is counted. Returns
 * whether look-ups of expressions could be compared.
 */
async function checkFlipped(
  engine: Engine,
  { tree, text, isRegexEnabled }: OracleQuery,
  { contextLines, isCaseSensitive }: { contextLines: number; isCaseSensitive: boolean },
  { stats }: Awaited<ReturnType<Engine['search']>>,
): Promise<boolean> {
  const flipped = await engine.search(text, {
    isRegexEnabled,
    isCaseSensitivityEnabled: !isCaseSensitive,
  });
  let isCompared = false;
  if (!text.includes('file:') && areReadAlike(tree)) {
    const lookups = [stats['ngramLookups']!, flipped.stats['ngramLookups']!];
    const [exact, folded] = isCaseSensitive ? lookups : lookups.reverse();
    // Case marks may rule a literal with capitals out, which ends the looking up early.
    if (/[A-Z]/.test(text)) assert.ok(exact! <= folded!, `S13: ${exact} > ${folded}`);
    else assert.equal(exact, folded, 'S13');
    isCompared = isRegexEnabled && stats['ngramLookups']! > 0;
  }
  const whole = await engine.search(text, {
    isRegexEnabled,
    isCaseSensitivityEnabled: isCaseSensitive,
    contextLines: contextLines + 1,
    whole: true,
  });
  for (const name of ['totalMatchCount', 'fileCount'])
    assert.equal(whole.stats[name], stats[name], 'S15');
  const { contentBytesLoaded, filesLoaded, filesConsidered } = whole.stats;
  assert.equal(contentBytesLoaded === 0, filesLoaded === 0, 'S5, whole');
  assert.ok(filesLoaded! <= filesConsidered!, 'S4, whole');
  return isCompared;
}

/**
 * Whether what is looked up for a query can be the same with and without regard to case: each expression is a choice of
 * literals in both, or in neither, as only literal search looks literals of one and two characters up; and each name of a
 * symbol is found by the order of names in both, or in neither. `\bk` is found by it with regard to case alone:
 * U+212A is another k, but no part of a word (core/match/symbol-leaf.ts). So are `\bs` and U+017F. A path that only
 * one of the two finds ends the looking up early.
 */
function areReadAlike(node: QueryNode): boolean {
  if (node.kind === 'not') return areReadAlike(node.child);
  if (node.kind === 'and' || node.kind === 'or') return node.children.every(areReadAlike);
  if (node.kind === 'text') return node.isOfContent === true;
  if (node.kind !== 'regex' && !(node.kind === 'pattern' && node.prefix === 'sym')) return true;
  const expressions = [true, false].map((isFolded) => {
    const tree = parseRegex(node.pattern, { isFolded });
    return atOnce(expressionOf({ ...node, tree }));
  });
  return expressions[0]!.kind === expressions[1]!.kind && !expressions.some(isFoldedWord);
}

/** Whether it is a name with a word that begins with a letter that others outside of words fold to. */
function isFoldedWord(expression: Expression): boolean {
  if (expression.kind !== 'name') return false;
  const { start, text } = expression.literal;
  return start === 'word' && /^[ks]/i.test(text);
}
