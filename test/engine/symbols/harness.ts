// Symbol extractors for tests, and their results as text.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  type EngineName,
  type Extractor,
  openExtractor,
} from '../../../daemon/engine/symbols/extractor.ts';
import type { ExtractionFailure, FoundSymbol } from '../../../daemon/engine/symbols/found.ts';

/** What `ctags --version` says first; '' without ctags. */
export const CTAGS_VERSION = spawnSync('ctags', ['--version'], { encoding: 'utf8' }).stdout ?? '';

/** Why ctags cannot be tested here; false: it can. */
export const NO_CTAGS = CTAGS_VERSION.startsWith('Universal Ctags') ? false : 'no ctags here';

/** @param engines  one, or all that are given */
export function openTestExtractor(
  engines: EngineName | readonly EngineName[],
  limits: { fileTimeoutMs?: number; fileMemoryMax?: number; concurrency?: number } = {},
): Promise<Extractor> {
  return openExtractor({
    concurrency: limits.concurrency ?? 2,
    fileTimeoutMs: limits.fileTimeoutMs ?? 60_000,
    fileMemoryMax: limits.fileMemoryMax ?? 512 << 20,
    engines: typeof engines === 'string' ? [engines] : engines,
  });
}

/** The symbols of a content; fails the test where there is a failure. */
export async function symbolsIn(
  extractor: Extractor,
  language: string,
  content: Uint8Array,
): Promise<readonly FoundSymbol[]> {
  const extraction = await extractor.extract(language, content);
  if ('failure' in extraction) assert.fail(`${extraction.failure}: ${extraction.detail}`);
  checkOrder(content, extraction.symbols);
  return extraction.symbols;
}

/** The failure of a content; fails the test without one. */
export async function failureOf(
  extractor: Extractor,
  language: string,
  content: Uint8Array,
): Promise<ExtractionFailure> {
  const extraction = await extractor.extract(language, content);
  if ('symbols' in extraction) assert.fail(`${extraction.symbols.length} symbols`);
  return extraction;
}

/** What holds for the symbols of any content. */
function checkOrder(content: Uint8Array, symbols: readonly FoundSymbol[]): void {
  let end = 0;
  for (const { start, size, kind, parent } of symbols) {
    assert.ok(start >= end && size > 0 && size <= 1024, `${start} ${size} after ${end}`);
    end = start + size;
    assert.ok(end <= content.length);
    assert.ok(!content.subarray(start, end).includes(10), 'a name on two lines');
    assert.ok(kind >= 0 && kind < 23);
    if (parent !== undefined) assert.ok(parent.name !== '' && parent.kind >= 0 && parent.kind < 23);
  }
}
