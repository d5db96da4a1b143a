// The encoded plan of an expression: the layout of its head, and that it is not trusted: each word of a plan is
// changed in turn, and the core refuses the plan or answers, and never traps.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  PLAN_CHILD_COUNT_OFFSET,
  PLAN_HEADER_SIZE,
  PLAN_NODE_COUNT_OFFSET,
  PLAN_NODE_FIRST_OFFSET,
  PLAN_NODE_SIZE,
  REGEX_CHAIN_OFFSET,
  REGEX_CHAIN_SIZE,
  REGEX_CONDITION_OFFSET,
  REGEX_HEAD_SIZE,
  REGEX_NEAR_OFFSET,
  REGEX_START_OFFSET,
} from '../../../core/shared/plan.ts';
import { PlanError, type EncodedPlan } from '../../../daemon/engine/host/encoded-plan.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { ShardError } from '../../../daemon/engine/host/space.ts';
import type { PlanNode } from '../../../daemon/engine/query/plan-tree.ts';
import { parseRegex } from '../../../daemon/engine/regex/syntax.ts';
import { buildShard, coreModule, repoRecord, temporaryFolder } from '../host/harness.ts';
import { compileRegex, encodePlan } from './at-once.ts';

const PATTERN = String.raw`foo\s*=\s*bar.*\s+quux`;

function planOf(pattern: string): EncodedPlan {
  const regex = compileRegex(parseRegex(pattern));
  const expression = { kind: 'program', regex, isChoice: false, isAlwaysTrue: false } as const;
  return encodePlan({ kind: 'regex', pattern, expression }, true);
}

/** Where the head of the last node's expression begins in the plan. */
function headOf(plan: Buffer): number {
  const nodes = plan.readUInt32LE(PLAN_NODE_COUNT_OFFSET);
  const children = plan.readUInt32LE(PLAN_CHILD_COUNT_OFFSET);
  const data = PLAN_HEADER_SIZE + nodes * PLAN_NODE_SIZE + children * 4;
  const last = PLAN_HEADER_SIZE + (nodes - 1) * PLAN_NODE_SIZE;
  return data + plan.readUInt32LE(last + PLAN_NODE_FIRST_OFFSET);
}

void test('the head of an expression', () => {
  const plan = Buffer.from(planOf(PATTERN).bytes);
  const nodes = plan.readUInt32LE(PLAN_NODE_COUNT_OFFSET);
  const head = headOf(plan);
  for (const offset of [REGEX_CONDITION_OFFSET, REGEX_START_OFFSET, REGEX_NEAR_OFFSET]) {
    const index = plan.readUInt32LE(head + offset);
    assert.ok(index > 0 && index < nodes, `${offset}: ${index}`);
  }
  const chain = plan.subarray(head + REGEX_CHAIN_OFFSET).subarray(0, REGEX_CHAIN_SIZE);
  const bytes = Array.from({ length: 128 }, (_, byte) => byte).filter(
    (byte) => (chain[byte >> 3]! & (1 << (byte & 7))) !== 0,
  );
  assert.equal(String.fromCodePoint(...bytes), '\t\n\f\r =abfor');
  assert.equal(REGEX_CHAIN_OFFSET + REGEX_CHAIN_SIZE, REGEX_HEAD_SIZE);
});

void test('an expression within a line has no match start', () => {
  const plan = Buffer.from(planOf('foo.*bar').bytes);
  const head = headOf(plan);
  assert.notEqual(plan.readUInt32LE(head + REGEX_CONDITION_OFFSET), 0);
  assert.ok(plan.subarray(head + 4, head + REGEX_HEAD_SIZE).every((byte) => byte === 0));
});

void test('no word of a plan is trusted', async () => {
  const module = await coreModule('debug');
  const repo = repoRecord(1, 'host/repo');
  const text = `${'.'.repeat(5000)}foo =\n${' '.repeat(5000)}\nbar .. quux\n`;
  const docs = [{ path: 'a', bytes: Buffer.from(text.repeat(3)) }];
  const shard = buildShard(module, temporaryFolder(), repo, docs);
  const searcher = new Searcher(module);
  searcher.setShards([shard]);
  const search = (bytes: Uint8Array): number => {
    searcher.beginPlan({ ...planOf(PATTERN), bytes });
    const { unitCount } = searcher.bind(shard.shardId);
    let matches = 0;
    for (let unit = 0; unit < unitCount; unit++) matches += searcher.searchUnit(unit).matches;
    return matches;
  };
  const valid = Buffer.from(planOf(PATTERN).bytes);
  assert.equal(search(valid), 3);
  let refused = 0;
  const tables = headOf(valid) + REGEX_HEAD_SIZE;
  for (let offset = 0; offset < tables; offset += 4) {
    for (const word of [0, 1, 2, 5, 11, 12, 40, 0x7fffffff, 0xffffffff]) {
      const changed = Buffer.from(valid);
      changed.writeUInt32LE(word, offset);
      try {
        search(changed);
      } catch (error) {
        // Grams that are replaced by other nodes may be missing in the shard.
        if (!(error instanceof PlanError || error instanceof ShardError)) throw error;
        refused++;
      }
    }
  }
  assert.ok(refused > 100, `${refused} were refused`);
});

void test('shared nodes are refused before they become too many', async () => {
  const module = await coreModule('debug');
  const docs = [{ path: 'a', bytes: Buffer.from('plum pear\n') }];
  const shard = buildShard(module, temporaryFolder(), repoRecord(1, 'host/repo'), docs);
  const searcher = new Searcher(module);
  searcher.setShards([shard]);
  const both = (): PlanNode => ({
    kind: 'and',
    children: ['plum', 'pear'].map((text) => ({ kind: 'text', text })),
  });
  const plan = encodePlan({ kind: 'or', children: [both(), both()] }, false);
  const bytes = Buffer.from(plan.bytes);
  const nodeCount = bytes.readUInt32LE(PLAN_NODE_COUNT_OFFSET);
  // The children of both ANDs, then those of the OR: rows 0 and 1, 3 and 4, 2 and 5.
  const children = PLAN_HEADER_SIZE + nodeCount * PLAN_NODE_SIZE;
  const search = (rows: readonly number[]): number => {
    for (const [index, row] of rows.entries()) bytes.writeUInt32LE(row, children + index * 4);
    searcher.beginPlan({ ...plan, bytes });
    return searcher.bind(shard.shardId).candidateDocs;
  };
  assert.equal(search([0, 1, 3, 4, 2, 5]), 1);
  assert.throws(() => search([0, 1, 2, 2, 5, 5]), PlanError);
});
