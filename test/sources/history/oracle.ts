// History from git itself, in the form of the API: read from other commands or output formats than the daemon reads,
// for comparison.

import { gitBytes } from './repos.ts';

function lines(cwd: string, ...args: string[]): string[] {
  return gitBytes(cwd, ...args)
    .toString('utf8')
    .split('\n')
    .slice(0, -1);
}

const SEPARATOR = '\u001F';
const FIELDS = ['%H', '%aI', '%s', '%D', '%b', '%aN', '%aE', '%P'];

export function logOf(cwd: string, ...args: string[]): Record<string, unknown>[] {
  const format = `--format=${FIELDS.join('%x1f')}%x1e`;
  const text = gitBytes(cwd, 'log', format, ...args).toString('utf8');
  return text
    .split('\u001E')
    .slice(0, -1)
    .map((record, index) => {
      const [hash, date, message, refs, body, authorName, authorEmail, parents] = (
        index === 0 ? record : record.slice(1)
      ).split(SEPARATOR);
      const all = parents === '' ? [] : parents!.split(' ');
      return { hash, date, message, refs, body, authorName, authorEmail, parents: all };
    });
}

export function authorsOf(cwd: string, ...args: string[]): unknown[] {
  return lines(cwd, 'shortlog', '-sne', ...args).map((line) => {
    const [, count, name, email] = /^ *(\d+)\t(.*?) ?<([^>]*)>$/.exec(line) ?? [];
    return { name, email, commitCount: Number(count) };
  });
}

export interface BlamedLine {
  readonly hash: string;
  readonly path: string;
  readonly date: string;
  readonly message: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly previous: string | undefined;
}

/** Each line of a file by `git blame --line-porcelain`; names are as git writes them. */
export function blameOf(cwd: string, ...args: string[]): BlamedLine[] {
  const blamed: BlamedLine[] = [];
  let facts = new Map<string, string>();
  let hash = '';
  for (const line of lines(cwd, 'blame', '--line-porcelain', ...args)) {
    if (line.startsWith('\t')) {
      blamed.push({
        hash,
        path: facts.get('filename')!,
        date: new Date(Number(facts.get('author-time')) * 1000).toISOString(),
        message: facts.get('summary')!,
        authorName: facts.get('author')!,
        authorEmail: facts.get('author-mail')!.slice(1, -1),
        previous: facts.get('previous'),
      });
      facts = new Map();
    } else if (/^[0-9a-f]{40,64} \d+ \d+/.test(line)) {
      hash = line.split(' ')[0]!;
    } else {
      const [name = ''] = line.split(' ', 1);
      facts.set(name, line.slice(name.length + 1));
    }
  }
  return blamed;
}

/** The patch that `git diff` makes, cut into hunks: ranges and heading as written, and lines. */
export function hunksOf(cwd: string, ...args: string[]): { head: string; body: string }[] {
  const text = gitBytes(cwd, 'diff', ...args).toString('utf8');
  const hunks: { head: string; body: string[] }[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    if (line.startsWith('@@ ')) hunks.push({ head: line, body: [] });
    else if (/^(?:diff --git|Binary|GIT) /.test(line)) hunks.push({ head: '', body: [] });
    else if (/^[-+ \\]/.test(line) && hunks.at(-1)?.head !== '') hunks.at(-1)?.body.push(line);
  }
  return hunks
    .filter(({ head }) => head !== '')
    .map(({ head, body }) => ({ head, body: body.join('\n') }));
}

/** Lines added and removed of each changed file by `git diff --numstat -z`; null: it is binary. */
export function lineCountsOf(cwd: string, ...args: string[]): ([number, number] | null)[] {
  // A rename has its two names behind an empty one.
  const fields = gitBytes(cwd, 'diff', '--numstat', '-z', ...args)
    .toString('utf8')
    .split('\0');
  return fields.flatMap((field) => {
    const [, added, removed] = /^(\d+|-)\t(\d+|-)\t/.exec(field) ?? [];
    if (added === undefined) return [];
    return [added === '-' ? null : [Number(added), Number(removed)]];
  });
}

/** Changed files by `git diff --name-status -z`: old and new path; a file that changed its kind twice. */
export function changesOf(cwd: string, ...args: string[]): [string | null, string | null][] {
  const fields = gitBytes(cwd, 'diff', '--name-status', '-z', ...args)
    .toString('utf8')
    .split('\0');
  const changes: [string | null, string | null][] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const status = fields[i]![0];
    const name = fields[i + 1]!;
    if (status === 'A') changes.push([null, name]);
    else if (status === 'D') changes.push([name, null]);
    else if (status === 'T') changes.push([name, null], [null, name]);
    else if (status === 'R' || status === 'C') changes.push([name, fields[++i + 1]!]);
    else changes.push([name, name]);
  }
  return changes;
}
