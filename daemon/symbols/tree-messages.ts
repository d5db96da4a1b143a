// What the engine over tree-sitter and its threads say to each other: one content, one answer.

import type { ExtractionFailure, FoundSymbol } from './found.ts';

export interface TreeWorkerData {
  /** Bytes that the memory of the parser may take. */
  readonly memoryMax: number;
}

export interface TreeRequest {
  readonly language: string;
  readonly grammar: string;
  /** Sent with the first request for a grammar. */
  readonly module: WebAssembly.Module | undefined;
  /** Moved, not copied. */
  readonly content: Uint8Array;
}

export interface TreeAnswer {
  readonly outcome: { readonly symbols: readonly FoundSymbol[] } | ExtractionFailure;
  /** The thread must not be used again: its parser failed, or holds much memory. */
  readonly isSpent: boolean;
}
