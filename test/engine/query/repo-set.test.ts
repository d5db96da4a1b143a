// The sets of repos of random plans, beside the same plans evaluated repo by repo.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import type { PlanNode } from '../../../daemon/engine/query/plan-tree.ts';
import { isInSet, possibleRepos } from '../../../daemon/engine/query/repo-set.ts';
import { joinRepos } from '../../../daemon/engine/query/repos.ts';
import { repoRecord } from '../host/harness.ts';

const REPO_IDS = [1, 2, 3, 4, 5];
const REPOS = REPO_IDS.map((repoId) => repoRecord(repoId, `host/repo${repoId}`));

const ofRepos = fc
  .subarray(REPO_IDS, { minLength: 1, maxLength: 4 })
  .map((ids): PlanNode => ({ kind: 'repos', ids: new Set(ids) }));

const { plan } = fc.letrec<{ plan: PlanNode }>((tie) => ({
  plan: fc.oneof(
    { maxDepth: 4 },
    ofRepos,
    fc.constant<PlanNode>({ kind: 'text', text: 'plum' }),
    fc.boolean().map((value): PlanNode => ({ kind: 'const', value })),
    tie('plan').map((child): PlanNode => ({ kind: 'not', child })),
    fc
      .tuple(
        fc.constantFrom('and' as const, 'or' as const),
        fc.array(tie('plan'), { minLength: 1, maxLength: 3 }),
      )
      .map(([kind, children]): PlanNode => ({ kind, children })),
  ),
}));

/** Undefined: it depends on the doc. */
function verdictOf(node: PlanNode, repoId: number): boolean | undefined {
  switch (node.kind) {
    case 'const':
      return node.value;
    case 'repos':
      return node.ids.has(repoId);
    case 'not': {
      const verdict = verdictOf(node.child, repoId);
      return verdict === undefined ? undefined : !verdict;
    }
    case 'and':
    case 'or': {
      const verdicts = node.children.map((child) => verdictOf(child, repoId));
      const deciding = node.kind === 'or';
      if (verdicts.includes(deciding)) return deciding;
      return verdicts.includes(undefined) ? undefined : !deciding;
    }
    default:
      return undefined;
  }
}

test('repos in which docs may match a plan', () => {
  fc.assert(
    fc.property(plan, (node) => {
      const possible = possibleRepos(node);
      for (const repoId of [...REPO_IDS, 99])
        assert.equal(isInSet(possible, repoId), verdictOf(node, repoId) !== false);
    }),
    { numRuns: 3000 },
  );
});

test('joined conditions on repos say the same of each repo, with at most half of the ids', () => {
  const side = fc
    .tuple(ofRepos, fc.boolean())
    .map(([child, isNot]): PlanNode => (isNot ? { kind: 'not', child } : child));
  fc.assert(
    fc.property(fc.constantFrom('and' as const, 'or' as const), side, side, (kind, left, right) => {
      const joined = joinRepos(kind, left, right, REPOS);
      for (const repoId of REPO_IDS)
        assert.equal(
          verdictOf(joined, repoId),
          verdictOf({ kind, children: [left, right] }, repoId),
        );
      const leaf = joined.kind === 'not' ? joined.child : joined;
      assert.ok(leaf.kind === 'const' || (leaf.kind === 'repos' && leaf.ids.size <= 2));
    }),
    { numRuns: 2000 },
  );
});
