// A server that answers like the daemon, from the files of a folder by plain scanning, for tests of the
// benchmark: literals in quotes, any case or exact; an optional fault spoils each answer.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { statsOf } from '../http/answers.ts';
import { startPlainServer, type PlainServer } from '../http/plain-server.ts';
import type {
  FileResult,
  MatchRange,
  SearchResponse,
} from '../../daemon/api/search/search-schemas.ts';

interface Call {
  readonly query: string;
  readonly matches: number;
  readonly isCaseSensitivityEnabled?: boolean;
}

const FILE = { repository: 'r', repositoryId: 1, webUrl: '', language: '' };

function rangesIn(text: string, needle: string): MatchRange[] {
  const ranges: MatchRange[] = [];
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
    const lineNumber = text.slice(0, at).split('\n').length;
    const location = { byteOffset: at, lineNumber, column: 1 };
    const end = { ...location, byteOffset: at + needle.length };
    ranges.push({ start: location, end });
  }
  return ranges;
}

function search(contents: ReadonlyMap<string, string>, call: Call): SearchResponse {
  const literal = call.query.replaceAll(/^(?:content:)?"|"$/g, '');
  const isExact = call.isCaseSensitivityEnabled === true;
  const fold = (text: string): string => (isExact ? text : text.toLowerCase());
  let remaining = call.matches;
  let totalMatchCount = 0;
  const files: FileResult[] = [];
  for (const [name, content] of contents) {
    const ranges = rangesIn(fold(content), fold(literal));
    totalMatchCount += ranges.length;
    const kept = ranges.slice(0, remaining);
    remaining -= kept.length;
    const contentStart = { byteOffset: 0, lineNumber: 1, column: 1 };
    const chunks = [{ content, matchRanges: kept, contentStart }];
    const fileName = { text: name, matchRanges: [] };
    if (kept.length > 0) files.push({ ...FILE, fileName, chunks });
  }
  const isSearchExhaustive = totalMatchCount <= call.matches;
  const stats = statsOf({ totalMatchCount, contentBytesLoaded: 1000 });
  return { stats, files, repositoryInfo: [], isSearchExhaustive };
}

/** Serves `names` (ASCII files below `root`). */
export async function startFakeDaemon(
  root: string,
  names: readonly string[],
  spoil: (response: SearchResponse) => SearchResponse = (response) => response,
): Promise<PlainServer> {
  const contents = new Map(
    names.map((name) => [name, readFileSync(path.join(root, name), 'latin1')]),
  );
  return startPlainServer((_, body, reply) => {
    const answer = spoil(search(contents, JSON.parse(body) as Call));
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
}
