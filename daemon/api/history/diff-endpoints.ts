// GET /api/diff (API.md 12.2). Order of the checks: syntax of both refs, repo, path, then whether the refs resolve.

import { z } from 'zod';
import { checkRef } from '../../sources/git/names.ts';
import { type CallContext, endpoint } from '../shapes/endpoint.ts';
import { findRepo, gitSignal, GIT_READ } from '../sources/git-calls.ts';
import { pathField, scopeOf } from './history-input.ts';
import { repoField } from '../sources/file-reading.ts';
import { choiceText, integerText, PER_PAGE_MAX, requiredText } from '../shapes/input.ts';
import { PAGE_HEADERS, pageHeaders, windowOf } from '../shapes/pagination.ts';
import { flag, integer, text } from '../shapes/schemas.ts';

const PATH = '/api/diff';
const PER_PAGE = 30;

const lineRange = z
  .object({
    start: integer('First line, from 1; 0 for an empty range at the start.'),
    lines: integer('Number of lines.'),
  })
  .meta({ id: 'LineRange', description: 'Consecutive lines.' });

const hunk = z
  .object({
    oldRange: lineRange,
    newRange: lineRange,
    heading: text('The first line of the surrounding function, if there is one.').optional(),
    body: text('Lines with their markers, as in a unified diff.'),
  })
  .meta({ id: 'DiffHunk', description: 'Adjacent changes of a file, with context lines.' });

const fileDiff = z
  .object({
    oldPath: z.string().nullable().describe('Path in the base; null: added.'),
    newPath: z.string().nullable().describe('Path in the head; null: deleted.'),
    status: z.enum(['added', 'deleted', 'modified', 'renamed']).describe('Kind of change.'),
    additions: integer('Lines that only the head has.'),
    deletions: integer('Lines that only the base has.'),
    isBinary: flag('Whether the file is binary, so that no lines are shown.'),
    language: text('Name of the language, by the name of the file; "" if unknown.'),
    hunks: z.array(hunk).describe('Empty for binary files, and if only name or mode changed.'),
  })
  .meta({ id: 'FileDiff', description: 'The differences of one file.' });

export type FileDiff = z.infer<typeof fileDiff>;

type DiffCall = Parameters<CallContext['services']['history']['diff']>[1];

interface DiffRequest extends Pick<DiffCall, 'base' | 'head' | 'window' | 'ignoresWhitespace'> {
  readonly repo: string;
  readonly path?: string | undefined;
}

/** Errors: INVALID_GIT_REF; NOT_FOUND; FILE_NOT_FOUND. */
export async function diffOf(
  { repo: name, base, head, path, window, ignoresWhitespace }: DiffRequest,
  context: CallContext,
) {
  checkRef(base);
  checkRef(head);
  const repo = findRepo(name, context);
  const { clientKey } = context;
  const call = { base, head, path: scopeOf(path), window, ignoresWhitespace, clientKey };
  return await context.services.history.diff(repo, call, gitSignal(context));
}

export const getDiff = endpoint(
  {
    ...GIT_READ,
    operationId: 'getDiff',
    method: 'GET',
    path: PATH,
    summary: 'Differences between two commits',
    input: {
      query: z.object({
        repo: repoField,
        base: requiredText().describe(
          'Branch, tag or commit to compare with. `X^` of a commit X without parents is the empty tree.',
        ),
        head: requiredText().describe('Branch, tag or commit to be compared.'),
        path: pathField,
        ignoreWhitespace: choiceText(['true', 'false'])
          .optional()
          .describe('Whether to ignore differences in white space.'),
        page: integerText(1, Number.MAX_SAFE_INTEGER)
          .optional()
          .describe('Page of the files, from 1; without it and `perPage` all files.'),
        perPage: integerText(1, PER_PAGE_MAX)
          .optional()
          .describe(`Files per page; ${PER_PAGE} if only \`page\` is given.`),
      }),
    },
    responses: {
      200: {
        description: 'The changed files.',
        body: z
          .object({ files: z.array(fileDiff) })
          .meta({ id: 'Diff', description: 'Differences between two commits.' }),
        headers: PAGE_HEADERS,
      },
    },
  },
  async ({ query }, context) => {
    const { ignoreWhitespace, page, perPage } = query;
    const pages =
      page === undefined && perPage === undefined
        ? undefined
        : { page: page ?? 1, perPage: perPage ?? PER_PAGE };
    const request = { ...query, window: pages && windowOf(pages) };
    const ignoresWhitespace = ignoreWhitespace === 'true';
    const { json, total } = await diffOf({ ...request, ignoresWhitespace }, context);
    const all = { page: 1, perPage: Math.max(1, total) };
    const headers = pageHeaders(total, { ...query, ...(pages ?? all) }, context, PATH);
    return { status: 200, headers, content: { json } };
  },
);
