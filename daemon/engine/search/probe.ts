// Probes shards with parts of a plan, for explain: the docs that a part leaves in a shard, the frequency of a gram, and the
// components of a doc's score. Runs on the main thread and lets other searches run between shards. A failed shard is not
// probed again and contributes nothing; reporting damage is left to searches.

import { isTrap } from '../host/core.ts';
import type { Binding, ScoreParts, Searcher } from '../host/searcher.ts';
import type { SearchPlan } from '../host/search-plan.ts';
import { ShardError } from '../host/space.ts';
import { encodePlan } from '../query/encode.ts';
import type { PlanNode } from '../query/plan-tree.ts';
import type { LiveShard } from './snapshot.ts';

/** Guess: most probes of parts and grams, over all shards, for one explanation. */
const QUESTIONS_MAX = 20_000;
/** Guess: time for one probe on the main thread. After a longer one probing stops. */
const BIND_NS = 20_000_000n;

export class Probe {
  readonly shards: readonly LiveShard[];
  readonly #searcher: Searcher;
  readonly #isCaseSensitive: boolean;
  readonly #signal: AbortSignal;
  readonly #broken = new Set<string>();
  #remainingQuestions = QUESTIONS_MAX;

  /**
   * @param shards  those included in totals
   * @param hasBudget  false: counts of parts and grams are withheld
   */
  constructor(
    searcher: Searcher,
    shards: readonly LiveShard[],
    isCaseSensitive: boolean,
    signal: AbortSignal,
    hasBudget: boolean,
  ) {
    if (!hasBudget) this.#remainingQuestions = 0;
    this.#searcher = searcher;
    this.shards = shards;
    this.#isCaseSensitive = isCaseSensitive;
    this.#signal = signal;
  }

  /** The result of binding only `part` to a shard; undefined: the shard has failed, or the limit is reached. */
  bind(part: PlanNode, shard: LiveShard): Binding | undefined {
    const end = process.hrtime.bigint() + BIND_NS;
    return this.#query(shard, (searcher) => {
      searcher.beginPlan(encodePlan(part, this.#isCaseSensitive, [shard]));
      const binding = searcher.bind(shard.shardId, () => process.hrtime.bigint() > end);
      if (binding === undefined) this.#remainingQuestions = 0;
      return binding;
    });
  }

  /** The components of the score of a doc found by `plan`; undefined: the shard has failed, or it takes too long. */
  scoreDoc(plan: SearchPlan, shard: LiveShard, docId: number): ScoreParts | undefined {
    const end = process.hrtime.bigint() + BIND_NS;
    const isLate = (): boolean => process.hrtime.bigint() > end;
    return this.#query(shard, (searcher) => {
      searcher.setPlan(plan);
      if (!searcher.isBound(shard.shardId) && searcher.bind(shard.shardId, isLate) === undefined)
        return undefined;
      return searcher.scoreDoc(docId, isLate);
    });
  }

  /** Blocks of a shard that contain a text of three characters; undefined: the shard has failed. */
  gramBlocks(gram: string, shard: LiveShard): number | undefined {
    return this.#query(shard, (searcher) => searcher.countGramBlocks(shard.shardId, gram));
  }

  /** Results of all shards that have one; undefined: the limit is reached. Errors: AbortError. */
  async queryAll<Value>(
    query: (shard: LiveShard) => Value | undefined,
  ): Promise<Value[] | undefined> {
    this.#remainingQuestions -= this.shards.length;
    if (this.#remainingQuestions < 0) return undefined;
    const answers: Value[] = [];
    for (const shard of this.shards) {
      const answer = query(shard);
      if (answer === undefined && this.#remainingQuestions === 0) return undefined;
      if (answer !== undefined) answers.push(answer);
      await this.breathe();
    }
    return answers;
  }

  /** Yields to other searches. Errors: AbortError when the client is gone. */
  async breathe(): Promise<void> {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.#signal.throwIfAborted();
  }

  #query<Value>(shard: LiveShard, query: (searcher: Searcher) => Value): Value | undefined {
    const { shardId } = shard;
    if (this.#broken.has(shardId) || !this.#searcher.has(shardId)) return undefined;
    try {
      return query(this.#searcher);
    } catch (error) {
      if (!(error instanceof ShardError) && !isTrap(error)) throw error;
      this.#broken.add(shardId);
      if (this.#searcher.has(shardId)) this.#searcher.replaceSpaceOf(shardId);
      return undefined;
    }
  }
}
