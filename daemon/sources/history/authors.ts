// Authors of the commits that lead to a commit, with counts: reads `git shortlog`.

import { compareText, type TreePath } from '../../base/paths.ts';
import { type HistoryContext, runHistory } from './process.ts';

export interface Author {
  readonly name: string;
  readonly email: string;
  readonly commitCount: number;
}

const OUTPUT_SIZE_MAX = 64 << 20;

/**
 * All authors, most commits first, ties by the bytes of the name, then of the e-mail.
 *
 * @param path  only commits that touched it
 *
 * Errors: GitError; the reason of the signal.
 */
export async function readAuthors(
  context: HistoryContext,
  start: string,
  path: TreePath | undefined,
): Promise<Author[]> {
  const args = ['shortlog', '--summary', '--email', start];
  const output = await runHistory(args, context, { path, outputSizeMax: OUTPUT_SIZE_MAX });
  return parseAuthors(output.toString('utf8'));
}

/** Source: `<count>\t<name> <<e-mail>>`; no name contains `<`. */
const LINE = /^ *(\d+)\t(.*?) ?<(.*)>$/;

function parseAuthors(text: string): Author[] {
  const authors: Author[] = [];
  for (const line of text.split('\n')) {
    const [, count, name, email] = LINE.exec(line) ?? [];
    if (name === undefined || email === undefined) continue;
    authors.push({ name, email, commitCount: Number(count) });
  }
  // Why not git's order: it compares whole lines, in which the text after a name counts before a longer name.
  return authors.sort(
    (a, b) =>
      b.commitCount - a.commitCount || compareText(a.name, b.name) || compareText(a.email, b.email),
  );
}
