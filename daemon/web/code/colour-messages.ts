// What the page and the workers that colour say to each other: of the code view, and of lines that are drawn one by one.

import type { Colour } from './marks.ts';

/** First the text, then, again and again, a part of it. */
export type ToColourer =
  | { readonly type: 'open'; readonly language: string; readonly text: string }
  | { readonly type: 'colour'; readonly from: number; readonly to: number };

/** Colours of the part that was asked for last, in order. */
export type FromColourer = readonly Colour[];

/** Runs of lines that are on the screen. */
export interface ToLineColourer {
  readonly key: string;
  readonly language: string;
  /** Lines that follow one another in the file. */
  readonly runs: readonly (readonly string[])[];
}

export interface FromLineColourer {
  readonly key: string;
  /** For each line of all runs. */
  readonly colours: readonly (readonly Colour[])[];
}
