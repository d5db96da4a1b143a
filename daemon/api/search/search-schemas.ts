// Schemas of search requests and answers: body, results with positions, numbers, events of a stream.

import { z } from 'zod';
import { HINTS_MAX } from '../../engine/query/hints.ts';
import { CONTEXT_LINES_MAX, RESULT_FIELDS } from '../../engine/query/request.ts';
import { boundedText, jsonInteger } from '../shapes/input.ts';
import { codeHostType, errorObject, flag, integer, SKIP_REASONS, text } from '../shapes/schemas.ts';

/** Bytes of UTF-8. */
export const QUERY_SIZE_MAX = 65_536;

export const searchBody = z
  .object({
    query: boundedText(QUERY_SIZE_MAX).meta({
      description: `Words, quoted text, filters, \`or\`, groups, \`-\`; at most ${QUERY_SIZE_MAX} bytes.`,
      examples: ['parseQuery file:\\.ts$'],
      override: { maxLength: QUERY_SIZE_MAX },
    }),
    filter: boundedText(QUERY_SIZE_MAX)
      .exactOptional()
      .meta({
        description:
          'A second query that narrows the first as a whole: filters, `or`, groups, `-`, but no words of content.',
        examples: ['lang:go -file:_test'],
        override: { maxLength: QUERY_SIZE_MAX },
      }),
    matches: jsonInteger(1).meta({
      description:
        'Maximum number of matches; values above `maxMatchCount` (100000) are reduced to it.',
      examples: [10000],
    }),
    contextLines: jsonInteger(0)
      .default(0)
      .meta({
        description: `Lines shown before and after each match; values above ${CONTEXT_LINES_MAX} are reduced to it.`,
      }),
    whole: z.boolean().default(false).meta({
      description: 'Also return the whole text of each file.',
    }),
    fields: z
      .array(z.enum(RESULT_FIELDS))
      .max(RESULT_FIELDS.length)
      .readonly()
      .exactOptional()
      .meta({
        description: 'Members to include in file results; absent: all of them.',
      }),
    isRegexEnabled: z.boolean().default(false).meta({
      description: 'Words and quoted text are regular expressions (RE2 syntax).',
    }),
    isCaseSensitivityEnabled: z.boolean().default(false).meta({
      description: 'Case-sensitive matching.',
    }),
    maxBytes: jsonInteger(1024).exactOptional().meta({
      description: 'Limit for the answer in bytes of JSON: `files` ends before it would exceed it.',
    }),
    maxLineBytes: jsonInteger(32).exactOptional().meta({
      description:
        'Limit for a line of chunk content in bytes: longer lines are cut around their matches, each cut marked by `…`, which does not count.',
    }),
  })
  .meta({ id: 'SearchRequest', description: 'What to search for. Unknown members are ignored.' });

export type SearchCall = z.output<typeof searchBody>;

const location = z
  .object({
    byteOffset: integer('Bytes from the start of the file.'),
    lineNumber: integer('1-based; a line ends with LF.', 1),
    column: integer('1-based, in Unicode code points.', 1),
  })
  .meta({ id: 'Location', description: 'A position in a file.' });

export type Location = z.infer<typeof location>;

export const range = z
  .object({
    start: location.meta({ description: 'First character.' }),
    end: location.meta({ description: 'Behind the last character.' }),
  })
  .meta({ id: 'Range', description: 'A matched range of a file, never empty.' });

export type MatchRange = z.infer<typeof range>;

const symbolHead = {
  symbol: text('Full name; "" if the match did not come from a symbol.'),
  kind: text('Kind of symbol; "" if the match did not come from a symbol.'),
};

const symbolParent = z
  .object(symbolHead)
  .meta({ id: 'SymbolParent', description: 'The symbol that contains it.' });

const symbolInfo = z
  .object({ ...symbolHead, parent: symbolParent.optional() })
  .meta({ id: 'SymbolInfo', description: 'The symbol whose definition is matched.' });

const chunk = z
  .object({
    content: text('Whole lines, context included; bad UTF-8 bytes as U+FFFD.'),
    matchRanges: z.array(range).meta({
      description: 'Ascending, never overlapping; positions in the file.',
    }),
    contentStart: location.meta({ description: 'First character of `content`.' }),
    symbols: z.array(symbolInfo).optional().meta({
      description: 'Empty, or one entry for each range.',
    }),
  })
  .meta({ id: 'Chunk', description: 'Consecutive lines shown together with the matches in them.' });

export type Chunk = z.infer<typeof chunk>;

const fileResult = z
  .object({
    fileName: z
      .object({
        text: text('Path from the root of the repository.'),
        matchRanges: z.array(range).meta({
          description:
            'Matches in the path: always for words, for `file:` only if the content has none.',
        }),
      })
      .meta({ id: 'FileName', description: 'Path of a file and the matches in it.' }),
    webUrl: text('Page of the file in this instance.'),
    externalWebUrl: text('Page of the file at the code host.').optional(),
    repository: text('Name of the repository.'),
    repositoryId: integer('Id of the repository.', 1),
    language: text('Name of the language, "" if unknown.'),
    chunks: z.array(chunk).meta({ description: 'Best first; empty for a result by name only.' }),
    branches: z.array(z.string()).optional().meta({
      description: 'Full refs of the revisions in scope that have the file, the first 100.',
    }),
    branchesOmitted: integer('Number of further such revisions.', 1).optional(),
    fileKind: z.enum(['code', 'test', 'generated', 'vendored', 'docs']).optional().meta({
      description:
        'Category of the file: `linguist-vendored` and `linguist-generated` of `.gitattributes`, else its path, decide.',
    }),
    score: integer('Quality of the match; higher is better.').optional(),
    blobSha: text('Id of the content in git; absent for files on disk.').optional(),
    content: text('The whole text; only with `whole`.').optional(),
    skipReason: z
      .enum(SKIP_REASONS)
      .optional()
      .meta({ description: 'Why the content is not indexed; absent if it is.' }),
  })
  .meta({ id: 'FileResult', description: 'A file with matches.' });

export type FileResult = z.infer<typeof fileResult>;

export const repositoryInfo = z
  .object({
    id: integer('Id of the repository.', 1),
    codeHostType,
    name: text('Name, for example `github.com/owner/name`.'),
    displayName: text('Display name.').optional(),
    webUrl: text('Page of the repository at its code host.').optional(),
  })
  .meta({ id: 'RepositoryInfo', description: 'A repository that results come from.' });

/** The numbers of `stats` that are sums over shards. */
export const statsShares = {
  actualMatchCount: integer('Matches in this answer.'),
  totalMatchCount: integer('Matches found, before the cut to `matches`.'),
  fileCount: integer('Files with at least one match, before the cut.'),
  filesSkipped: integer('Files not evaluated because the search ended first.'),
  contentBytesLoaded: integer('Bytes of the distinct blocks of content read.'),
  indexBytesLoaded: integer('Encoded bytes of posting lists decoded.'),
  crashes: integer('Shards with incomplete work.'),
  shardFilesConsidered: integer(
    'Files in scope in shards that were scanned, skipped by the index, or crashed.',
  ),
  filesConsidered: integer('Files evaluated at least in part.'),
  filesLoaded: integer('Files of which content was read.'),
  shardsScanned: integer('Shards in which evaluation started.'),
  shardsSkipped: integer('Shards never examined.'),
  shardsSkippedFilter: integer('Shards in which no file can match.'),
  ngramMatches: integer('Blocks that the posting lists left as candidates.'),
  ngramLookups: integer('Probes of a dictionary of trigrams.'),
  regexpsConsidered: integer('Runs of the regular expression engine.'),
  matchTreeConstruction: integer('Planning, summed over threads, in nanoseconds.'),
  matchTreeSearch: integer('Evaluation, summed over threads, in nanoseconds.'),
};

export const statsNumbers = {
  ...statsShares,
  duration: integer('Wall time of the search, in nanoseconds.'),
  wait: integer('Time before the first unit of work, in nanoseconds.'),
};

export const stats = z
  .object({
    ...statsNumbers,
    flushReason: z
      .enum([
        'FLUSH_REASON_UNKNOWN_UNSPECIFIED',
        'FLUSH_REASON_TIMER_EXPIRED',
        'FLUSH_REASON_FINAL_FLUSH',
        'FLUSH_REASON_MAX_SIZE',
      ])
      .meta({ description: 'Why an event of a stream was sent when it was.' }),
  })
  .meta({ id: 'Stats', description: 'What the search did. Every member is always there.' });

export type Stats = z.infer<typeof stats>;

/** Members that say whether an answer is complete. */
export const exhaustiveness = {
  isSearchExhaustive: flag('True: no match is missing.'),
  incompleteReasons: z
    .array(
      z.enum([
        'match_limit',
        'size_limit',
        'deadline',
        'shard_crashed',
        'shard_quarantined',
        'revision_unreadable',
        'symbols_missing',
        'internal_error',
      ]),
    )
    .min(1)
    .optional()
    .meta({ description: 'Why matches may be missing; present exactly if they may.' }),
};

const hint = z
  .object({
    message: text('The hint as text.'),
    query: text('The query as it may have been intended.').optional(),
    isRegexEnabled: z
      .literal(true)
      .optional()
      .describe('`query` needs isRegexEnabled, which this search did not have.'),
    repo: text('The repository with most unsearched files, if `message` counts them.').optional(),
  })
  .meta({ id: 'Hint', description: 'What a query may have intended, or what was not searched.' });

export type Hint = z.infer<typeof hint>;

const hints = z.array(hint).min(1).max(HINTS_MAX).optional().meta({
  description:
    'What the query may have intended: it looks like the syntax of another tool, or finds nothing where a similar form does, or a filter matches nothing.',
});

const results = {
  files: z.array(fileResult).meta({ description: 'Best first.' }),
  repositoryInfo: z.array(repositoryInfo).meta({
    description: 'The repositories of `files`, in order of first occurrence.',
  }),
};

export const searchAnswer = z
  .object({ stats, ...results, ...exhaustiveness, hints })
  .meta({ id: 'SearchResponse', description: 'Answer of a search.' });

export type SearchResponse = z.infer<typeof searchAnswer>;

const chunkEvent = z
  .object({
    type: z.literal('chunk'),
    stats: stats.meta({ description: 'Changes since the previous event.' }),
    ...results,
    progress: z
      .object({
        shardsDone: integer('Shards that are completely searched.'),
        shardsEligible: integer('Shards with a file in scope.'),
      })
      .optional()
      .meta({ description: 'Progress of the search.' }),
  })
  .meta({ id: 'ChunkEvent', description: 'Results, as found.' });

const finalEvent = z
  .object({
    type: z.literal('final'),
    accumulatedStats: stats.meta({ description: 'Of the whole stream.' }),
    ...exhaustiveness,
    hints,
  })
  .meta({ id: 'FinalEvent', description: 'Last event of a complete stream.' });

const errorEvent = z
  .object({ type: z.literal('error'), error: errorObject })
  .meta({ id: 'ErrorEvent', description: 'A failure after the start of the stream.' });

export const streamEvent = z
  .discriminatedUnion('type', [chunkEvent, finalEvent, errorEvent])
  .meta({ id: 'StreamEvent', description: 'One event of a stream of search results.' });

export type SearchEvent = z.infer<typeof streamEvent>;
