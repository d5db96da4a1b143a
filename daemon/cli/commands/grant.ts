// `trawl grant ...`: which users see which repositories with enforced permissions.

import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { UsageError } from '../errors.ts';
import {
  callOperator,
  formatJsonLines,
  formatTable,
  type OperatorFlags,
  withOperator,
} from '../operator-output.ts';
import { addCommonOptions, addExamples } from '../options.ts';
import type { Operator } from '../operator.ts';
import { escapeControls } from '../terminal-text.ts';

interface ListFlags extends OperatorFlags {
  readonly user?: string;
  readonly repo?: string;
}

const PAGE_SIZE = 5_000;
const COLUMNS = ['email', 'repo', 'source'] as const;

async function add(
  email: string,
  repos: string[],
  flags: OperatorFlags,
  context: CliContext,
): Promise<void> {
  const { added, isEffective } = await callOperator(context, flags, 'grant.add', { email, repos });
  context.stderr.write(`${escapeControls(email)}: ${added} grants added\n`);
  if (!isEffective)
    context.stderr.write('note: grants have no effect without a licence for "permissions"\n');
}

async function remove(
  email: string,
  repos: string[],
  flags: OperatorFlags,
  context: CliContext,
): Promise<void> {
  const { removed } = await callOperator(context, flags, 'grant.remove', { email, repos });
  context.stderr.write(`${escapeControls(email)}: ${removed} grants removed\n`);
}

/** Prints the grants of one user or one repository, page by page. */
async function printGrants(
  operator: Operator,
  of: { readonly email: string } | { readonly repo: string },
  flags: ListFlags,
  { stdout }: CliContext,
): Promise<void> {
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const { total, rows } = await operator.call('grant.list', { ...of, offset, limit: PAGE_SIZE });
    stdout.write(flags.json ? formatJsonLines(rows) : formatTable(COLUMNS, rows, false));
    if (offset + PAGE_SIZE >= total) return;
  }
}

async function list(flags: ListFlags, context: CliContext): Promise<void> {
  const { user, repo } = flags;
  if (user !== undefined && repo !== undefined)
    throw new UsageError('give --user or --repo, not both');
  await withOperator(context, flags, async (operator) => {
    if (repo !== undefined) return printGrants(operator, { repo }, flags, context);
    const users = user === undefined ? await operator.call('user.list', {}) : [{ email: user }];
    for (const { email } of users) await printGrants(operator, { email }, flags, context);
  });
}

export function addGrantCommand(program: Command, context: CliContext): void {
  const group = program
    .command('grant')
    .summary('give users access to repositories')
    .description(
      'Adds and removes grants for repositories whose permissions are enforced. Grants have an effect only\n' +
        'with a licence for "permissions".',
    );
  for (const [name, summary, run] of [
    ['add', 'let a user see repositories', add],
    ['remove', 'remove grants', remove],
  ] as const) {
    const command = group
      .command(name)
      .summary(summary)
      .description(`${summary}; an unknown user or repository changes nothing`)
      .argument('<email>', 'e-mail address of the user')
      .argument('<repo...>', 'names or ids of repositories');
    addCommonOptions(command).action((email: string, repos: string[], flags: OperatorFlags) =>
      run(email, repos, flags, context),
    );
    addExamples(command, [`trawl grant ${name} ada@example.com github.com/owner/name local/tools`]);
  }
  const listing = group
    .command('list')
    .summary('list grants')
    .description(
      'Lists grants: e-mail address, repository, and whether the grant is in the configuration or the store.',
    )
    .option('--user <email>', 'only grants of this user')
    .option('--repo <name>', 'only grants for this repository, by name or id')
    .option('--json', 'one JSON object per line');
  addCommonOptions(listing).action((flags: ListFlags) => list(flags, context));
  addExamples(listing, [
    'trawl grant list',
    'trawl grant list --repo github.com/owner/name --json',
  ]);
  addExamples(group, [
    'trawl grant add ada@example.com github.com/owner/name',
    'trawl grant list --user ada@example.com',
  ]);
}
