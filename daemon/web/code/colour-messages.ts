// Messages between the page and the workers that compute syntax colours: for the code view, and for separate lines.

import type { Colour } from './marks.ts';

/** First the whole text, then one message for each part to colour. */
export type ToColourer =
  | { readonly type: 'open'; readonly language: string; readonly text: string }
  | { readonly type: 'colour'; readonly from: number; readonly to: number };

/** Colours of the last requested part, in order. */
export type FromColourer = readonly Colour[];

/** Runs of lines to colour. */
export interface ToLineColourer {
  readonly key: string;
  readonly language: string;
  /** Consecutive lines of a file. */
  readonly runs: readonly (readonly string[])[];
}

export interface FromLineColourer {
  readonly key: string;
  /** For each line of all runs. */
  readonly colours: readonly (readonly Colour[])[];
}
