// What hosts have said last of who may see their repositories. Answers overtake each other: a page of one listing may have been
// read before a repository turned private, and be kept after another listing, or an answer about it alone, has said so.

import type { RepoHost } from '../../store/repos.ts';
import type { SaidVisibility } from '../../hosts/host.ts';
import { isStricter } from './whose-fetch.ts';

/** A repository of a host. */
type Which = Pick<RepoHost, 'address' | 'hostId'>;

export class HeardVisibility {
  /** By address and id. Bound: the repositories that are not public. `ms` is of performance.now. */
  readonly #last = new Map<string, { readonly visibility: SaidVisibility; readonly ms: number }>();

  /** A host has said it just now. */
  note(which: Which, visibility: SaidVisibility): void {
    // What is public narrows nothing, nor does what may be.
    if (visibility !== 'public' && visibility !== 'maybe-public')
      this.#last.set(keyOf(which), { visibility, ms: performance.now() });
  }

  /** What an answer says, but no more than what was heard since it was asked for (performance.now). */
  atMost(which: Which, said: SaidVisibility, askedMs: number): SaidVisibility {
    const last = this.#last.get(keyOf(which));
    if (last === undefined || last.ms <= askedMs || !isStricter(last.visibility, said)) return said;
    return last.visibility;
  }
}

function keyOf({ address, hostId }: Which): string {
  return `${address} ${hostId}`;
}
