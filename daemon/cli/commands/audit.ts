// `trawl audit`: who did what, newest first.

import { type Command, InvalidArgumentError } from 'commander';
import type { listAuditRecords } from '../../api/accounts/audit-endpoints.ts';
import { factsText } from '../../api/accounts/audit-facts.ts';
import { instantText } from '../../api/shapes/input.ts';
import { isoTime } from '../../api/shapes/schemas.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../errors.ts';
import { type OperatorFlags, printTable, withOperator } from '../operator-output.ts';
import { addAction } from '../options.ts';
import { escapeControls } from '../terminal-text.ts';

interface AuditFlags extends OperatorFlags {
  readonly since?: number;
  readonly until?: number;
  readonly repo?: string;
}

function instant(text: string): number {
  const { success, data } = instantText().safeParse(text);
  if (success) return Date.parse(data);
  throw new InvalidArgumentError(
    'Give a date (2030-12-31, from 00:00 UTC) or a time (2030-12-31T18:00:00Z).',
  );
}

/** Actions that may change who sees any repository: members, settings, the licence. */
const OF_ALL = /^(?:org\.|user\.(?:delete|owner_created)$|license\.|settings\.)/;

interface AuditRow {
  readonly action: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

function names(repo: string, { action, metadata }: AuditRow): boolean {
  const { repos, name } = metadata ?? {};
  return Array.isArray(repos) ? repos.includes(repo) : action === 'grant.synced' && name === repo;
}

function bearsOn(repo: string, row: AuditRow): boolean {
  return names(repo, row) || (!Array.isArray(row.metadata?.['repos']) && OF_ALL.test(row.action));
}

async function print(flags: AuditFlags, context: CliContext): Promise<void> {
  // Records written meanwhile would shift the ones not read yet.
  const { since, until = Date.now(), repo } = flags;
  if (since !== undefined && since >= until)
    throw new UsageError(`--since ${isoTime(since)} is not before ${isoTime(until)}`);
  const query = { since: since === undefined ? since : isoTime(since), until: isoTime(until) };
  await withOperator(flags, (operator) => {
    const pages = operator.pages<typeof listAuditRecords>('/api/ee/audit', query);
    return printTable(context, flags, about(repo, pages, context), {
      columns: ['timestamp', 'action', 'actor', 'target', 'metadata'],
      cellsOf: ({ timestamp, action, metadata, ...row }) => ({
        timestamp,
        action,
        actor: row.actorName ?? `${row.actorType}:${row.actorId}`,
        target: row.targetName ?? `${row.targetType}:${row.targetId}`,
        metadata: metadata === null ? '' : factsText(metadata),
      }),
    });
  });
}

async function* about<Row extends AuditRow>(
  repo: string | undefined,
  pages: AsyncIterable<readonly Row[]>,
  { stderr }: CliContext,
): AsyncGenerator<readonly Row[]> {
  if (repo === undefined) return yield* pages;
  let isNamed = false;
  for await (const rows of pages) {
    isNamed ||= rows.some((row) => names(repo, row));
    yield rows.filter((row) => bearsOn(repo, row));
  }
  if (!isNamed)
    stderr.write(
      `note: no record names ${escapeControls(repo)}: "trawl repo list" lists the names\n`,
    );
}

export function addAuditCommand(program: Command, context: CliContext): void {
  const command = program
    .command('audit')
    .summary('show who did what')
    .description('Prints the audit records, newest first. Requires no licence.')
    .option('--since <time>', 'only records from this time on', instant)
    .option('--until <time>', 'only records before this time', instant)
    .option('--repo <name>', 'only records that may have changed who sees this repository')
    .option('--json', 'one JSON object per line, as in GET /api/ee/audit');
  addAction(command, context, print, [
    'trawl audit',
    'trawl audit --since 2030-01-01 --until 2030-02-01 --json',
    'trawl audit --since 2030-01-01 --repo github.com/owner/name',
  ]);
}
