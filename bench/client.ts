// A client for measuring, over kept-alive connections. The timed call does not parse: that would measure this process.

import { Agent, request } from 'node:http';
import type { SearchResponse } from '../daemon/api/search/search-schemas.ts';
import { type Reply, send } from '../daemon/cli/bench/load.ts';
import { quoteLiteral, quotePattern } from './cases.ts';
import type { BenchCase } from './cases.ts';
import type { SearchAll } from './differential.ts';
import type { ByteRange, MatchMap } from './ripgrep.ts';

/** The most ranges that an answer can have. */
export const MATCHES_MAX = 100_000;
export const MATCHES_PAGE = 100;

export interface SearchClient {
  /** Rejects if the connection fails. */
  post(body: string): Promise<Reply>;
  /** Milliseconds to the first chunk with files; undefined: no files. Rejects if the stream has no end. */
  firstResult(body: string): Promise<number | undefined>;
  /** In order of arrival. Rejects if the stream has no end. */
  stream(body: string): Promise<readonly string[]>;
  close(): void;
}

/** `connectionCount`: maximum of open connections. */
export function createClient(url: string, connectionCount: number): SearchClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connectionCount });
  const address = new URL('/api/search', url);
  const streamAddress = new URL('/api/stream_search', url);
  const options = { agent, method: 'POST', headers: { 'content-type': 'application/json' } };
  return {
    post: (body) => send(address, options, body),
    firstResult: (body) =>
      new Promise((resolve, reject) => {
        const startMs = performance.now();
        const call = request(streamAddress, options, (reply) => {
          let firstMs: number | undefined;
          let text = '';
          reply.setEncoding('utf8').on('data', (part: string) => {
            text += part;
            if (firstMs === undefined && FIRST_RESULT.test(text))
              firstMs = performance.now() - startMs;
            // Only the end is still needed.
            if (firstMs !== undefined) text = text.slice(-STREAM_END.length);
          });
          reply.on('error', reject);
          reply.on('end', () => {
            if (text.endsWith(STREAM_END)) resolve(firstMs);
            else reject(new Error(`HTTP ${String(reply.statusCode)}: a stream without its end`));
          });
        });
        call.on('error', reject);
        call.end(body);
      }),
    stream: async (body) => pathsOf(await send(streamAddress, options, body)),
    close: () => {
      agent.destroy();
    },
  };
}

/** Throws if the stream failed or has no end. */
function pathsOf({ status, body }: Reply): string[] {
  const text = body.toString();
  if (status !== 200 || !text.endsWith(STREAM_END) || text.includes('data: {"type":"error"'))
    throw new Error(`HTTP ${String(status)}: a stream without its end: ${text.slice(0, 200)}`);
  const events = text.slice(0, -STREAM_END.length).split('\n\n').filter(Boolean);
  return events.flatMap((event) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the daemon's own contract
    const { files = [] } = JSON.parse(event.slice('data: '.length)) as Partial<SearchResponse>;
    return files.map(({ fileName }) => fileName.text);
  });
}

/** A whole chunk event that holds a file. */
const FIRST_RESULT = /^data: \{"type":"chunk".*"files":\[\{.*\n\n/m;
const STREAM_END = 'data: [DONE]\n\n';

export function callOf(benchCase: BenchCase, matches: number) {
  return {
    query: benchCase.query,
    matches,
    isRegexEnabled: benchCase.isRegex === true,
    isCaseSensitivityEnabled: benchCase.isCaseSensitive,
  };
}

export function bodyOf(benchCase: BenchCase, matches: number): string {
  return JSON.stringify(callOf(benchCase, matches));
}

/** Rejects with status and body if the status is not 200. */
export async function search(client: SearchClient, body: string): Promise<SearchResponse> {
  const answer = await client.post(body);
  const text = answer.body.toString();
  if (answer.status !== 200) throw new Error(`HTTP ${String(answer.status)}: ${text}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the daemon's own contract
  return JSON.parse(text) as SearchResponse;
}

/** The ranges of all files of an answer, ascending, by path. */
export function rangesByPath(response: SearchResponse): MatchMap {
  const map: MatchMap = new Map();
  for (const { fileName, chunks } of response.files) {
    const ranges = chunks.flatMap(({ matchRanges }) =>
      matchRanges.map(({ start, end }): ByteRange => [start.byteOffset, end.byteOffset]),
    );
    if (ranges.length > 0)
      map.set(
        fileName.text,
        ranges.sort((a, b) => a[0] - b[0]),
      );
  }
  return map;
}

/** For the differential test. */
export function searchAllThrough(client: SearchClient): SearchAll {
  return async (text, isCaseSensitive, isRegex = false) => {
    const body = JSON.stringify({
      query: isRegex ? quotePattern(text) : `content:${quoteLiteral(text)}`,
      matches: MATCHES_MAX,
      isRegexEnabled: isRegex,
      isCaseSensitivityEnabled: isCaseSensitive,
    });
    const response = await search(client, body);
    return response.isSearchExhaustive ? rangesByPath(response) : undefined;
  };
}

/** All docs of the index by path, and those whose content is omitted, with the reason. */
export async function listDocs(
  client: SearchClient,
): Promise<{ paths: Set<string>; skipped: Map<string, string> }> {
  const response = await search(client, JSON.stringify({ query: '-()', matches: MATCHES_MAX }));
  if (!response.isSearchExhaustive) throw new Error('the corpus has too many files to list');
  const skipped = new Map<string, string>();
  for (const { fileName, skipReason } of response.files) {
    if (skipReason !== undefined) skipped.set(fileName.text, skipReason);
  }
  return { paths: new Set(response.files.map(({ fileName }) => fileName.text)), skipped };
}
