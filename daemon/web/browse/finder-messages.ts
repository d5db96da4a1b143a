// Messages between the file finder and its worker.

import type { Mark } from '../code/marks.ts';

export type ToFinder =
  | {
      readonly type: 'open';
      readonly base: string;
      readonly repo: string;
      readonly revision: string;
      /** Listed first while nothing is typed. */
      readonly seen: readonly string[];
    }
  | { readonly type: 'find'; readonly text: string };

export interface FoundPath {
  readonly path: string;
  /** The parts that match the text. */
  readonly marks: readonly Mark[];
}

export type FromFinder =
  | {
      readonly type: 'found';
      readonly text: string;
      /** The best matches. */
      readonly paths: readonly FoundPath[];
      /** The number of all matches. */
      readonly total: number;
    }
  | { readonly type: 'failed'; readonly message: string };
