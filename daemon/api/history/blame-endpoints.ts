// GET /api/blame: the commit of each line of a file (API.md 12.1).

import { z } from 'zod';
import { checkPath } from '../../sources/git/names.ts';
import { endpoint } from '../shapes/endpoint.ts';
import { findRepo, gitSignal, GIT_READ } from '../sources/git-calls.ts';
import { refOf } from './history-input.ts';
import { refField, repoField } from '../sources/file-reading.ts';
import { requiredText } from '../shapes/input.ts';
import { integer, text, time } from '../shapes/schemas.ts';

const blameRange = z
  .object({
    hash: text('Full id of the commit.'),
    path: text('Path of the file in that commit.'),
    startLine: integer('First line, from 1.', 1),
    lineCount: integer('Number of lines.', 1),
  })
  .meta({ id: 'BlameRange', description: 'Consecutive lines of one commit.' });

const blameCommit = z
  .object({
    hash: text('Full id.'),
    date: time('Date of the author.'),
    message: text('Subject line.'),
    authorName: text('Name of the author.'),
    authorEmail: text('E-mail of the author.'),
    previous: z
      .object({ hash: text('Full id.'), path: text('Path of the file in that commit.') })
      .optional()
      .describe('The previous commit, which had other lines there.'),
  })
  .meta({ id: 'BlameCommit', description: 'A commit of these lines.' });

const blame = z
  .object({
    ranges: z
      .array(blameRange)
      .describe('All lines, in file order; neighbours differ in commit or path.'),
    commits: z.record(z.string(), blameCommit).describe('The commits by id.'),
  })
  .meta({ id: 'Blame', description: 'The commits of the lines of a file.' });

export const getBlame = endpoint(
  {
    ...GIT_READ,
    operationId: 'getFileBlame',
    method: 'GET',
    path: '/api/blame',
    summary: 'Blame of a file',
    input: {
      query: z.object({
        path: requiredText().describe('Path from the root of the repository.'),
        repo: repoField,
        ref: refField,
      }),
    },
    responses: { 200: { description: 'The blame.', body: blame } },
  },
  async ({ query }, context) => {
    const { path } = query;
    const repo = findRepo(query.repo, context);
    checkPath(path);
    const ref = refOf(query.ref);
    const signal = gitSignal(context);
    const { services, accounts, actor } = context;
    const json = await services.history.blame(repo, { ref, path }, signal);
    accounts.auditLog.note(actor, 'user.fetched_file_blame', {
      id: `${repo.name}/${path}`,
      type: 'file',
    });
    return { status: 200, content: { json } };
  },
);
