// What the code view and the worker that colours it say to each other.

import type { Colour } from './marks.ts';

/** First the text, then, again and again, a part of it. */
export type ToColourer =
  | { readonly type: 'open'; readonly language: string; readonly text: string }
  | { readonly type: 'colour'; readonly from: number; readonly to: number };

/** Colours of the part that was asked for last, in order. */
export type FromColourer = readonly Colour[];
