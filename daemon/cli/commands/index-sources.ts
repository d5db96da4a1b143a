// `trawl index [PATH...]`: builds the index and exits.

import path from 'node:path';
import type { Command } from 'commander';
import type { LogLevel } from '../../base/log-levels.ts';
import type { JobResult } from '../../sync/jobs/jobs.ts';
import { type CliContext, EXIT_ERROR, EXIT_OK } from '../context.ts';
import { countOf, formatBytes, formatCount, formatDuration, formatCounts } from '../format.ts';
import { addExamples, addSourceOptions, isLogOnTerminal } from '../options.ts';
import { createProgress } from '../progress.ts';
import { type IndexFlags, indexSources } from '../services.ts';
import { escapeControls } from '../terminal-text.ts';

export function describeResult(result: JobResult): string {
  const repo = escapeControls(result.repo);
  if (result.state === 'FAILED') {
    const reason = escapeControls(result.error ?? 'unknown reason');
    // A source without a name is called by its path, with which the reason starts.
    return `${repo}: failed: ${reason.startsWith(`${repo}: `) ? reason.slice(repo.length + 2) : reason}`;
  }
  const skipped = formatCounts(result.skipped);
  const warnings = result.warnings.map((text) => `\n${repo}: warning: ${escapeControls(text)}`);
  const line = [
    `${repo}:${result.isUnchanged ? ' unchanged,' : ''} ${countOf(result.docCount, 'doc')},`,
    ...(result.deadCount > 0 ? [`${formatCount(result.deadCount)} in no revision,`] : []),
    ...(result.revisionCount > 1 ? [`${countOf(result.revisionCount, 'revision')},`] : []),
    `${formatBytes(result.contentSize)} of content,`,
    `${formatBytes(result.shardSize)} of shards,`,
    formatDuration(result.durationMs),
    ...(skipped === '' ? [] : [`(content left out: ${skipped})`]),
    ...(result.reason === undefined ? [] : [`(rebuilt: ${result.reason})`]),
  ].join(' ');
  return line + warnings.join('');
}

/** How many files rules excluded, by kind of rule, and how to include them; "" for none. A folder counts as one. */
export function describeIgnored(results: readonly Partial<Pick<JobResult, 'ignored'>>[]): string {
  const counts: Record<string, number> = {};
  for (const { ignored = {} } of results)
    for (const [rule, count] of Object.entries(ignored)) {
      const file = path.basename(rule.split(': ', 1)[0]!);
      counts[file] = (counts[file] ?? 0) + count;
    }
  const [first, ...others] = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  if (first === undefined) return '';
  const rest = others.map(([file, count]) => `, ${formatCount(count)} by ${file}`).join('');
  const what = first[1] === 1 ? 'file or folder' : 'files or folders';
  const most = `${formatCount(first[1])} ${what} ignored by ${first[0]}`;
  return `${escapeControls(most + rest)}, a folder counted as one: --no-ignore reads them\n`;
}

interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly repo?: string;
  readonly error?: string | { readonly message: string };
}

type LoggedResult = Pick<JobResult, 'error' | 'warnings'>;

function describeLine({ level, message, repo, error }: LogLine): string {
  const kind = level === 'warn' ? 'warning' : level;
  const reason = typeof error === 'object' ? error.message : error;
  const parts = [...(repo === undefined ? [] : [repo]), kind, message];
  return escapeControls([...parts, ...(reason === undefined ? [] : [reason])].join(': '));
}

/** Log lines for a terminal: only those that no result repeats. */
class LogNotes {
  readonly #lines: LogLine[] = [];

  readonly take = (line: string): void => {
    this.#lines.push(JSON.parse(line));
  };

  /** Lines, each with its line feed, that none of these results repeats. */
  beyond(results: readonly LoggedResult[]): string {
    const reported = new Set(results.flatMap(({ error, warnings }) => [error, ...warnings]));
    const isReported = ({ message, error }: LogLine): boolean =>
      reported.has(message) || (typeof error === 'string' && reported.has(error));
    return this.#lines
      .filter((line) => !isReported(line))
      .map((line) => `${describeLine(line)}\n`)
      .join('');
  }
}

async function runIndex(
  sources: readonly string[],
  flags: IndexFlags,
  context: CliContext,
): Promise<void> {
  const { stdout, stderr } = context;
  const progress = createProgress(stderr, stderr.isTTY === true);
  const notes = isLogOnTerminal(flags, context) ? new LogNotes() : undefined;
  const logged = notes === undefined ? flags : { ...flags, logLevel: 'warn' };
  let results: readonly JobResult[] = [];
  try {
    results = await indexSources(sources, logged, progress.update, notes?.take);
  } finally {
    progress.stop();
    stderr.write(notes?.beyond(results) ?? '');
  }
  for (const result of results) {
    stdout.write(`${flags.json ? JSON.stringify(result) : describeResult(result)}\n`);
  }
  if (!flags.json) stderr.write(describeIgnored(results));
  const hasFailed = results.some(({ state }) => state === 'FAILED');
  context.setExitCode(hasFailed ? EXIT_ERROR : EXIT_OK);
}

export function addIndexCommand(program: Command, context: CliContext): void {
  const command = program
    .command('index')
    .summary('build the index and exit')
    .description(
      'Indexes the given sources, or without arguments everything configured, and exits.\n' +
        'Exit code: 0 all indexed, 2 a source failed.',
    )
    .argument('[source...]', 'paths of git repositories or folders')
    .option('--repo <name>', 'only the repository of this name')
    .option('--force', 'build again even if nothing changed')
    .option('--no-symbols', 'leave symbols to the daemon')
    .option('--json', 'results as one JSON object per line');
  addSourceOptions(command);
  addExamples(command, [
    'trawl index .',
    'trawl index --mode commits ~/src/linux /srv/git/tools.git',
    "trawl index --branches 'release/*' --tags 'v{1,2}.*' /srv/git/tools.git",
    'trawl index --force --json --repo github.com/owner/name',
  ]);
  command.action((sources: string[], flags: IndexFlags) => runIndex(sources, flags, context));
}
