// What the engine over tree-sitter and its processes say to each other: one content, one answer.

import type { ExtractionFailure, FoundSymbol } from './found.ts';

export interface TreeRequest {
  readonly language: string;
  readonly grammar: string;
  readonly content: Uint8Array;
}

export interface TreeAnswer {
  readonly outcome: { readonly symbols: readonly FoundSymbol[] } | ExtractionFailure;
  /** The process must not be used again: its parser failed, or it has taken much memory or time. */
  readonly isSpent: boolean;
}
