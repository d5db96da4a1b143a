// GET /api/diff: what differs between two commits (API.md 12.2). Order of the checks: syntax of both refs, repo,
// path, then whether the refs resolve.

import { z } from 'zod';
import { checkRef } from '../../sources/git/names.ts';
import { endpoint } from '../shapes/endpoint.ts';
import { findRepo, gitSignal, GIT_READ } from '../sources/git-calls.ts';
import { type HistoryContext, pathField, repoField, scopeOf } from './history-input.ts';
import { choiceText, integerText, requiredText } from '../shapes/input.ts';
import { PAGE_HEADERS, PER_PAGE_MAX, pageOf, windowOf } from '../shapes/pagination.ts';
import { flag, integer, text } from '../shapes/schemas.ts';

const PATH = '/api/diff';
const PER_PAGE = 30;

const lineRange = z
  .object({
    start: integer('First line, from 1; 0 where there are none and nothing is before.'),
    lines: integer('Number of lines.'),
  })
  .meta({ id: 'LineRange', description: 'Consecutive lines.' });

const hunk = z
  .object({
    oldRange: lineRange,
    newRange: lineRange,
    heading: text('The line that begins the function around, if there is one.').optional(),
    body: text('Lines with their markers, as in a unified diff.'),
  })
  .meta({ id: 'DiffHunk', description: 'Neighbouring changes of a file, and lines around them.' });

const fileDiff = z
  .object({
    oldPath: z.string().nullable().meta({ description: 'Path in the base; null: added.' }),
    newPath: z.string().nullable().meta({ description: 'Path in the head; null: deleted.' }),
    status: z
      .enum(['added', 'deleted', 'modified', 'renamed'])
      .meta({ description: 'What became of it.' }),
    additions: integer('Lines that the head has and the base has not.'),
    deletions: integer('Lines that the base has and the head has not.'),
    isBinary: flag('Is it no text, so that there are no lines to show?'),
    language: text('Name of the language, by the name of the file; "" if unknown.'),
    hunks: z
      .array(hunk)
      .meta({ description: 'Empty for binary files, and where only name or mode changed.' }),
  })
  .meta({ id: 'FileDiff', description: 'What differs in a file.' });

export type FileDiff = z.infer<typeof fileDiff>;

type DiffCall = Parameters<HistoryContext['services']['history']['diff']>[1];

interface AskedDiff extends Pick<DiffCall, 'base' | 'head' | 'window' | 'ignoresWhitespace'> {
  readonly repo: string;
  readonly path?: string | undefined;
}

/** JSON of the files that differ. Errors: INVALID_GIT_REF; NOT_FOUND; FILE_NOT_FOUND. */
export async function diffOf(
  { repo: name, base, head, path, window, ignoresWhitespace }: AskedDiff,
  context: HistoryContext,
) {
  checkRef(base);
  checkRef(head);
  const repo = findRepo(name, context);
  const { holder } = context;
  const call = { base, head, path: scopeOf(path), window, ignoresWhitespace, holder };
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
        base: requiredText().meta({
          description:
            'Branch, tag or commit to compare with. `X^` of a commit X without parents is the empty tree.',
        }),
        head: requiredText().meta({ description: 'Branch, tag or commit that is compared.' }),
        path: pathField,
        ignoreWhitespace: choiceText(['true', 'false'])
          .optional()
          .meta({ description: 'Are lines equal that differ in white space alone?' }),
        page: integerText(1, Number.MAX_SAFE_INTEGER)
          .optional()
          .meta({ description: 'Which page of the files, from 1; without it and `perPage` all.' }),
        perPage: integerText(1, PER_PAGE_MAX)
          .optional()
          .meta({ description: `Files on a page; ${PER_PAGE} if there is only \`page\`.` }),
      }),
    },
    responses: {
      200: {
        description: 'The files that differ.',
        body: z
          .object({ files: z.array(fileDiff) })
          .meta({ id: 'Diff', description: 'Differences between two commits.' }),
        headers: PAGE_HEADERS,
      },
    },
  },
  async ({ query }, context) => {
    const { base, head, ignoreWhitespace, page, perPage } = query;
    const pages =
      page === undefined && perPage === undefined
        ? undefined
        : { page: page ?? 1, perPage: perPage ?? PER_PAGE };
    const asked = { ...query, window: pages && windowOf(pages) };
    const ignoresWhitespace = ignoreWhitespace === 'true';
    const { json, total } = await diffOf({ ...asked, ignoresWhitespace }, context);
    const all = { page: 1, perPage: Math.max(1, total) };
    const { headers } = pageOf(total, pages ?? all, `${context.baseUrl}${PATH}`, {
      repo: query.repo,
      base,
      head,
      path: query.path,
      ignoreWhitespace,
    });
    return { status: 200, headers, content: { json } };
  },
);
