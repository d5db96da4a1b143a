// Makes search responses by hand: a chunk is written as its text with the matched stretches between
// guillemets, `one «two» three`, and the positions are worked out from that.

import type { Chunk, FileResult, Location, MatchRange } from '../../daemon/cli/services.ts';
import type { SearchResponse } from '../../daemon/cli/services.ts';

function advance({ byteOffset, lineNumber, column }: Location, character: string): Location {
  // A bad byte is one byte in the file and U+FFFD here.
  const size = character === '\ufffd' ? 1 : Buffer.byteLength(character);
  return character === '\n'
    ? { byteOffset: byteOffset + size, lineNumber: lineNumber + 1, column: 1 }
    : { byteOffset: byteOffset + size, lineNumber, column: column + 1 };
}

function parseMarked(marked: string, from: Location): { content: string; ranges: MatchRange[] } {
  const ranges: MatchRange[] = [];
  let content = '';
  let at = from;
  let start = from;
  for (const character of Array.from(marked)) {
    if (character === '«') start = at;
    else if (character === '»') ranges.push({ start, end: at });
    else {
      content += character;
      at = advance(at, character);
    }
  }
  return { content, ranges };
}

/** A chunk whose first line has number `lineNumber`. */
export function chunk(marked: string, lineNumber = 1): Chunk {
  const contentStart = { byteOffset: (lineNumber - 1) * 1000, lineNumber, column: 1 };
  const { content, ranges } = parseMarked(marked, contentStart);
  return { content, matchRanges: ranges, contentStart };
}

/** A file result; the path may be marked like a chunk. */
export function file(path: string, chunks: readonly Chunk[] = [], repository = 'r/a'): FileResult {
  const name = parseMarked(path, { byteOffset: 0, lineNumber: 1, column: 1 });
  return { fileName: { text: name.content, matchRanges: name.ranges }, repository, chunks };
}

export function response(
  files: readonly FileResult[],
  more: Partial<SearchResponse> = {},
): SearchResponse {
  return {
    stats: { totalMatchCount: 7, duration: 1_500_000, flushReason: 'X' },
    files,
    repositoryInfo: [],
    isSearchExhaustive: true,
    ...more,
  };
}
