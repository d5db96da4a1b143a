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

/** Guess: questions about parts and grams, over all shards, that an explanation may ask. */
const QUESTIONS_MAX = 20_000;
/** Guess: how long one question may keep the main thread. After one that takes longer no more are asked. */
const BIND_NS = 20_000_000n;

export class Probe {
  readonly shards: readonly LiveShard[];
  readonly #searcher: Searcher;
  readonly #isCaseSensitive: boolean;
  readonly #signal: AbortSignal;
  readonly #broken = new Set<string>();
  #questionsLeft = QUESTIONS_MAX;

  /**
   * @param shards  those that totals are about
   * @param isTold  false: no number of parts and grams is given
   */
  constructor(
    searcher: Searcher,
    shards: readonly LiveShard[],
    isCaseSensitive: boolean,
    signal: AbortSignal,
    isTold: boolean,
  ) {
    if (!isTold) this.#questionsLeft = 0;
    this.#searcher = searcher;
    this.shards = shards;
    this.#isCaseSensitive = isCaseSensitive;
    this.#signal = signal;
  }

  /** What binding `part` alone to a shard finds; undefined: the shard has failed, or that is asked too much. */
  bind(part: PlanNode, shard: LiveShard): Binding | undefined {
    const end = process.hrtime.bigint() + BIND_NS;
    return this.#ask(shard, (searcher) => {
      searcher.beginPlan(encodePlan(part, this.#isCaseSensitive, [shard]));
      const binding = searcher.bind(shard.shardId, () => process.hrtime.bigint() > end);
      if (binding === undefined) this.#questionsLeft = 0;
      return binding;
    });
  }

  /** What the score of a doc is made of that `plan` finds; undefined: the shard has failed, or it takes too long. */
  scoreDoc(plan: SearchPlan, shard: LiveShard, docId: number): ScoreParts | undefined {
    const end = process.hrtime.bigint() + BIND_NS;
    const isLate = (): boolean => process.hrtime.bigint() > end;
    return this.#ask(shard, (searcher) => {
      searcher.setPlan(plan);
      if (!searcher.isBound(shard.shardId) && searcher.bind(shard.shardId, isLate) === undefined)
        return undefined;
      return searcher.scoreDoc(docId, isLate);
    });
  }

  /** Blocks of a shard that hold a text of three characters; undefined: the shard has failed. */
  gramBlocks(gram: string, shard: LiveShard): number | undefined {
    return this.#ask(shard, (searcher) => searcher.countGramBlocks(shard.shardId, gram));
  }

  /** Answers of all shards that have one; undefined: too much has been asked. Errors: AbortError. */
  async askAll<Value>(ask: (shard: LiveShard) => Value | undefined): Promise<Value[] | undefined> {
    this.#questionsLeft -= this.shards.length;
    if (this.#questionsLeft < 0) return undefined;
    const answers: Value[] = [];
    for (const shard of this.shards) {
      const answer = ask(shard);
      if (answer === undefined && this.#questionsLeft === 0) return undefined;
      if (answer !== undefined) answers.push(answer);
      await this.breathe();
    }
    return answers;
  }

  /** Lets other searches in. Errors: AbortError when the client is gone. */
  async breathe(): Promise<void> {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.#signal.throwIfAborted();
  }

  #ask<Value>(shard: LiveShard, ask: (searcher: Searcher) => Value): Value | undefined {
    const { shardId } = shard;
    if (this.#broken.has(shardId) || !this.#searcher.has(shardId)) return undefined;
    try {
      return ask(this.#searcher);
    } catch (error) {
      if (!(error instanceof ShardError) && !isTrap(error)) throw error;
      this.#broken.add(shardId);
      if (this.#searcher.has(shardId)) this.#searcher.replaceSpaceOf(shardId);
      return undefined;
    }
  }
}
