// A commit as answers show it.

import { z } from 'zod';
import { text } from '../shapes/schemas.ts';

const commitFields = {
  hash: text('Full id.'),
  date: text('Date of the author, ISO 8601 with the offset of the author.'),
  message: text('Subject line.'),
  refs: text('Refs that point at it, comma-separated; "" for none.'),
  body: text('Rest of the message.'),
  authorName: text('Name of the author, by the mailmap of the default branch.'),
  authorEmail: text('E-mail of the author, by the mailmap of the default branch.'),
};

/** A commit of a list. */
export const listedCommit = z
  .object(commitFields)
  .meta({ id: 'ListedCommit', description: 'A commit.' });

export const commitObject = z
  .object({
    ...commitFields,
    parents: z.array(z.string()).meta({ description: 'Full ids of its parents.' }),
  })
  .meta({ id: 'Commit', description: 'A commit and its parents.' });
