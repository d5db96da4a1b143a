// `trawl audit`: who did what, newest first.

import { type Command, InvalidArgumentError } from 'commander';
import { factsText } from '../../api/accounts/audit-facts.ts';
import { instantText } from '../../api/shapes/input.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../errors.ts';
import {
  formatJsonLines,
  formatTable,
  type OperatorFlags,
  withOperator,
} from '../operator-output.ts';
import { addCommonOptions, addExamples } from '../options.ts';

interface AuditFlags extends OperatorFlags {
  readonly since?: number;
  readonly until?: number;
  readonly repo?: string;
}

const PAGE_SIZE = 5_000;
const COLUMNS = ['timestamp', 'action', 'actor', 'target', 'metadata'] as const;

/** Milliseconds since the epoch of an ISO 8601 date or time. */
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

/** Whether a record may have changed who sees a repository. */
function bearsOn(repo: string, { action, metadata }: AuditRow): boolean {
  const { repos, name } = metadata ?? {};
  if (Array.isArray(repos)) return repos.includes(repo);
  return action === 'grant.synced' ? name === repo : OF_ALL.test(action);
}

async function print(flags: AuditFlags, context: CliContext): Promise<void> {
  // Why: records written meanwhile would shift the ones not read yet.
  const { since, until = Date.now(), repo } = flags;
  if (since !== undefined && since >= until)
    throw new UsageError(
      `--since ${new Date(since).toISOString()} is not before ${new Date(until).toISOString()}`,
    );
  const query = { since, until, limit: PAGE_SIZE };
  await withOperator(context, flags, async (operator) => {
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const { total, rows: all } = await operator.call('audit.list', { ...query, offset });
      const rows = repo === undefined ? all : all.filter((row) => bearsOn(repo, row));
      const printed = rows.map((row) => ({
        timestamp: row.timestamp,
        action: row.action,
        actor: row.actorName ?? `${row.actorType}:${row.actorId}`,
        target: row.targetName ?? `${row.targetType}:${row.targetId}`,
        metadata: row.metadata === null ? '' : factsText(row.metadata),
      }));
      context.stdout.write(
        flags.json ? formatJsonLines(rows) : formatTable(COLUMNS, printed, offset === 0),
      );
      if (offset + PAGE_SIZE >= total) return;
    }
  });
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
  addCommonOptions(command).action((flags: AuditFlags) => print(flags, context));
  addExamples(command, [
    'trawl audit',
    'trawl audit --since 2030-01-01 --until 2030-02-01 --json',
    'trawl audit --since 2030-01-01 --repo github.com/owner/name',
  ]);
}
