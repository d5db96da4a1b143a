// The answer of a part of an index, before it is merged with those of other parts; today all shards of one daemon are one
// part. Partial answers from one snapshot merge into an answer that counts, orders, cuts and renders as a single search
// would.

import type { BindFinding } from '../host/search-messages.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { DocList } from './found-docs.ts';
import type { OrderContext } from './order.ts';
import type { Prepared } from './prepare.ts';
import { FileResults, renderAnswer, type RenderedAnswer, type RenderSums } from './render.ts';
import type { RunOutcome, RunStop } from './run.ts';
import type { LiveShard, QuarantinedShard } from './snapshot.ts';
import type { Thread } from './start-threads.ts';

/** Orders docs and names their repos; shards by their index in the answer. */
export interface DocContext extends OrderContext {
  repoOf(shard: number, docId: number): RepoRecord;
}

export interface PartialAnswer {
  /** In search order. */
  readonly shards: readonly LiveShard[];
  /** Eligible shards out of service. */
  readonly quarantined: readonly QuarantinedShard[];
  /** Findings by unit and shard, in any order. */
  readonly outcome: RunOutcome;
  readonly docs: DocContext;
  /** Renders docs in the given order. Errors: as renderAnswer. */
  render(docs: DocList): Promise<RenderedAnswer>;
}

/**
 * The answer of this daemon's shards.
 *
 * @param thread      found the docs, and renders small answers
 * @param onRendered  as for renderAnswer
 */
export function ownAnswer(
  { scope, view, render }: Prepared,
  outcome: RunOutcome,
  thread?: Thread,
  onRendered?: (shard: number, done: RenderSums) => void,
): PartialAnswer {
  return {
    ...scope,
    outcome,
    docs: view,
    render: (docs) => renderAnswer(docs, render, thread, onRendered),
  };
}

/** Joins answers, at least one; the shards of the first come first. */
export function joinAnswers(parts: readonly PartialAnswer[]): PartialAnswer {
  const [first] = parts;
  if (first === undefined) throw new Error('an answer has at least one part');
  if (parts.length === 1) return first;
  const starts = startsOf(parts);
  const partAt = (shard: number): number => starts.findLastIndex((start) => start <= shard);
  const ofPart = <Value>(shard: number, of: (docs: DocContext, own: number) => Value): Value => {
    const part = partAt(shard);
    return of(parts[part]!.docs, shard - starts[part]!);
  };
  return {
    shards: parts.flatMap(({ shards }) => shards),
    quarantined: parts.flatMap(({ quarantined }) => quarantined),
    outcome: joinOutcomes(parts, starts),
    docs: {
      isPlain: (shard) => ofPart(shard, (docs, own) => docs.isPlain(own)),
      repoRank: (shard, docId) => ofPart(shard, (docs, own) => docs.repoRank(own, docId)),
      versionOf: (shard, docId) => ofPart(shard, (docs, own) => docs.versionOf(own, docId)),
      pathOf: (shard, docId) => ofPart(shard, (docs, own) => docs.pathOf(own, docId)),
      repoOf: (shard, docId) => ofPart(shard, (docs, own) => docs.repoOf(own, docId)),
    },
    render: (docs) => renderParts(parts, docs, starts, partAt),
  };
}

/** Index of each part's first shard among all. */
function startsOf(parts: readonly PartialAnswer[]): number[] {
  let next = 0;
  return parts.map(({ shards }) => {
    next += shards.length;
    return next - shards.length;
  });
}

/** Reasons why parts stopped early; the first in this list that applies is reported. */
const STOPS: readonly RunStop[] = ['failed', 'aborted', 'deadline'];

function joinOutcomes(parts: readonly PartialAnswer[], starts: readonly number[]): RunOutcome {
  const all = <Found extends { readonly shard: number }>(
    of: (outcome: RunOutcome) => readonly Found[],
  ): Found[] =>
    parts.flatMap(({ outcome }, part) =>
      of(outcome).map((one) => ({ ...one, shard: one.shard + starts[part]! })),
    );
  const firsts = parts.flatMap(({ outcome: { firstUnitNs } }) => firstUnitNs ?? []);
  return {
    bindings: all<BindFinding>(({ bindings }) => bindings),
    headBindings: all<BindFinding>(({ headBindings }) => headBindings),
    units: all(({ units }) => units),
    failures: all(({ failures }) => failures),
    times: all(({ times }) => times),
    headShards: parts.flatMap(
      ({ outcome }, part) => outcome.headShards?.map((shard) => shard + starts[part]!) ?? [],
    ),
    firstUnitNs: firsts.length === 0 ? undefined : firsts.reduce((a, b) => (a < b ? a : b)),
    stop: STOPS.find((stop) => parts.some(({ outcome }) => outcome.stop === stop)),
  };
}

/**
 * @param starts  index of the first shard of each part
 * @param partAt  the part that contains a shard
 */
async function renderParts(
  parts: readonly PartialAnswer[],
  { found, docs }: DocList,
  starts: readonly number[],
  partAt: (shard: number) => number,
): Promise<RenderedAnswer> {
  const files = new FileResults(docs.length);
  const sums = { rangeCount: 0, contentBytes: 0, loadCount: 0 };
  const positions = parts.map((): number[] => []);
  for (const [position, doc] of docs.entries()) positions[partAt(found.shard(doc))]!.push(position);
  const rendered = await Promise.all(
    parts.map((part, index) => {
      const own = Uint32Array.from(positions[index]!, (position) => docs[position]!);
      return part.render(found.copyOf(own, starts[index]!));
    }),
  );
  for (const [index, { files: some, ...more }] of rendered.entries()) {
    files.take(some, positions[index]!);
    sums.rangeCount += more.rangeCount;
    sums.contentBytes += more.contentBytes;
    sums.loadCount += more.loadCount;
  }
  return { files, ...sums };
}
