// What the file finder and its worker say to each other.

import type { Mark } from '../code/marks.ts';

export type ToFinder =
  | {
      readonly type: 'open';
      readonly base: string;
      readonly repo: string;
      readonly revision: string;
      /** Paths that come first while nothing is typed. */
      readonly seen: readonly string[];
    }
  | { readonly type: 'find'; readonly text: string };

export interface FoundPath {
  readonly path: string;
  /** What fits the text. */
  readonly marks: readonly Mark[];
}

export type FromFinder =
  | {
      readonly type: 'found';
      readonly text: string;
      /** The best ones. */
      readonly paths: readonly FoundPath[];
      /** Of all that fit. */
      readonly total: number;
    }
  | { readonly type: 'failed'; readonly message: string };
