// The interface of a symbol engine to the extractor.

import type { Extraction } from './found.ts';

export interface Engine {
  knows(language: string): boolean;
  /**
   * The symbols of one content, which must not change meanwhile. Errors: none for problems with the content; rejects once
   * closed.
   */
  extract(language: string, content: Uint8Array): Promise<Extraction>;
  /** Ends processes and threads; running extractions fail. */
  close(): Promise<void>;
}
