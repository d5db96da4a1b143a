// The latest visibility that hosts reported for their repositories. Answers overtake each other: a page may have been
// read before a repository became private, and be processed after another listing or answer reported that.

import type { RepoHost } from '../../store/repos.ts';
import type { SaidVisibility } from '../../hosts/host.ts';
import { isStricter } from './whose-fetch.ts';

/** A repository of a host. */
type Which = Pick<RepoHost, 'address' | 'hostId'>;

export class LatestVisibility {
  /** By address and id. Bound: the repositories that are not public. `ms` is of performance.now. */
  readonly #last = new Map<string, { readonly visibility: SaidVisibility; readonly ms: number }>();

  /** A host has just reported it. */
  note(which: Which, visibility: SaidVisibility): void {
    // Public, or maybe public, narrows nothing.
    if (visibility !== 'public' && visibility !== 'maybe-public')
      this.#last.set(keyOf(which), { visibility, ms: performance.now() });
  }

  /**
   * The reported visibility, but no wider than anything heard since the request (performance.now).
   */
  atMost(which: Which, said: SaidVisibility, sentMs: number): SaidVisibility {
    const last = this.#last.get(keyOf(which));
    if (last === undefined || last.ms <= sentMs || !isStricter(last.visibility, said)) return said;
    return last.visibility;
  }
}

function keyOf({ address, hostId }: Which): string {
  return `${address} ${hostId}`;
}
