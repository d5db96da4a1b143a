// The script of a search thread: what engine/host/search-thread.ts does, and short searches (short-searches.ts).

import { LazySignal } from '../../base/cancellation.ts';
import type { SearchPermit } from '../../base/search-permit.ts';
import { compactIds } from '../../repos/repo-id-set.ts';
import type { RepoAccess } from '../../repos/repo-access.ts';
import type { Searcher } from '../host/searcher.ts';
import { startThread, type TaskResult } from '../host/search-thread.ts';
import type { CompletedSearch } from './answer.ts';
import type { EngineParts, ShortAnswer } from './prepare.ts';
import type { LazyAnswer } from './lazy-answer.ts';
import { search } from './search.ts';
import type { PostedAccess, PostedState, ShortSearch } from './short-searches.ts';
import type { Snapshot } from './snapshot.ts';
import { changedSnapshot, NO_SNAPSHOT } from './snapshot-copy.ts';

/** Ends the search: another thread, or a service of the main thread, is needed. */
function refuse(): never {
  throw new Error('not a short search');
}

let snapshot: Snapshot = NO_SNAPSHOT;
let state: Omit<PostedState, 'change'> = { tooLarge: new Map(), hasRevisions: false };
const bases: ReadonlySet<number>[] = [];

startThread({ accept: (task) => takeState(shortSearchOf(task)), run });

function shortSearchOf(task: unknown): ShortSearch {
  // Safety: the type that short-searches.ts posts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return task as ShortSearch;
}

async function run(task: unknown, searcher: Searcher): Promise<TaskResult> {
  const answer = await answerOf(shortSearchOf(task), searcher);
  return { result: answer, transfer: answer === undefined ? [] : [answer.json.buffer] };
}

function takeState({ state: posted, access }: ShortSearch): void {
  const { base, newBase } = access;
  if (base !== 'all' && newBase !== undefined) bases[base] = new Set(newBase);
  if (posted === undefined) return;
  snapshot = changedSnapshot(snapshot, posted.change);
  state = posted;
}

function accessOf({ base, extra }: PostedAccess): RepoAccess {
  return { base: base === 'all' ? base : bases[base]!, extra: compactIds(extra) };
}

/** Ends the search at its next pause once the time is over: preparing and ordering pause, too. */
function permitFor(startNs: bigint, searchNs: bigint): SearchPermit {
  const nowNs = process.hrtime.bigint();
  const endNs = nowNs + searchNs;
  return {
    clientKey: '',
    arrivedMs: performance.now() - Number(nowNs - startNs) / 1e6,
    attach: () => undefined,
    whenRunning: () => (process.hrtime.bigint() > endNs ? refuse() : undefined),
    rest: () => undefined,
    want: () => undefined,
  };
}

/** Undefined: the main thread has to do it, whatever the reason. */
async function answerOf(
  { request, baseUrl, access, startNs, searchNs }: ShortSearch,
  searcher: Searcher,
): Promise<ShortAnswer | undefined> {
  // Ordering reads tables of shards that were searched before.
  if (searcher.hasVisitors) return undefined;
  let completed: CompletedSearch | undefined;
  const parts: EngineParts = {
    searcher,
    pool: { size: 1, search: refuse, searchOn: refuse, render: refuse },
    snapshots: { current: snapshot, acquire: () => snapshot, release: () => undefined },
    connectionsOf: refuse,
    tooLargeOf: (repoId) => state.tooLarge.get(repoId) ?? 0,
    revisions: state.hasRevisions ? refuse : undefined,
    timeoutMs: 0,
    inlineNs: searchNs,
    onShardFailure: refuse,
    onCompleted: (search) => (completed = search),
  };
  try {
    // Without contexts `context:` fails here, and is run again.
    const environment = {
      signal: new LazySignal(),
      baseUrl,
      repoAccess: accessOf(access),
      permit: permitFor(startNs, searchNs),
    };
    const { json } = await search(parts, request, environment);
    return completed && { json: ownBytes(json), completed };
  } catch {
    return undefined;
  }
}

/** In memory of its own, which can be transferred. */
function ownBytes(json: Uint8Array | LazyAnswer): Uint8Array<ArrayBuffer> {
  if (json instanceof Buffer && json.buffer.byteLength === json.byteLength)
    return new Uint8Array(json.buffer);
  const bytes = Buffer.allocUnsafeSlow(json.byteLength);
  for (let offset = 0; offset < bytes.length;) {
    const part = json instanceof Uint8Array ? json : json.from(offset);
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  return bytes;
}
