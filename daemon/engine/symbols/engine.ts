// The interface of a symbol engine to the extractor.

import type { Extraction } from './found.ts';

export interface Engine {
  /** Whether it reads a language. */
  knows(language: string): boolean;
  /**
   * The symbols of one content. It must not change until then.
   *
   * Errors: none for what is wrong with the content; rejects once closed.
   */
  extract(language: string, content: Uint8Array): Promise<Extraction>;
  /** Ends processes and threads; what runs fails. */
  close(): Promise<void>;
}
