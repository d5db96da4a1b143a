// `trawl grant ...`: which users see which repositories with enforced permissions.

import type { Command } from 'commander';
import type { addGrants, listGrants, removeGrants } from '../../api/accounts/grant-endpoints.ts';
import type { listUsers } from '../../api/accounts/member-endpoints.ts';
import type { getLicence } from '../../api/instance/instance-endpoints.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../errors.ts';
import { countOf } from '../format.ts';
import { callOperator, type OperatorFlags, printTable, withOperator } from '../operator-output.ts';
import { addAction, addExamples } from '../options.ts';
import type { Operator } from '../operator.ts';
import { escapeControls } from '../terminal-text.ts';

interface ListFlags extends OperatorFlags {
  readonly user?: string;
  readonly repo?: string;
}

const PATH = '/api/ee/grants';

async function add(
  email: string,
  repos: string[],
  flags: OperatorFlags,
  context: CliContext,
): Promise<void> {
  await withOperator(flags, async (operator) => {
    const body = { userId: email, repoIds: repos };
    const { added } = await operator.call<typeof addGrants>('POST', PATH, { body });
    context.stderr.write(`${escapeControls(email)}: ${countOf(added, 'grant')} added\n`);
    const { entitlements } = await operator.call<typeof getLicence>('GET', '/api/license');
    if (!entitlements.includes('permissions'))
      context.stderr.write('note: grants have no effect without a licence for "permissions"\n');
  });
}

async function remove(
  email: string,
  repos: string[],
  flags: OperatorFlags,
  context: CliContext,
): Promise<void> {
  const body = { userId: email, repoIds: repos };
  const { removed } = await callOperator<typeof removeGrants>(flags, 'DELETE', PATH, {
    body,
  });
  context.stderr.write(`${escapeControls(email)}: ${countOf(removed, 'grant')} removed\n`);
}

async function* pagesOf(operator: Operator, { user, repo }: ListFlags) {
  const users =
    user === undefined && repo === undefined
      ? await operator.call<typeof listUsers>('GET', '/api/ee/users')
      : [{ email: user }];
  for (const { email: userId } of users)
    for await (const page of operator.pages<typeof listGrants>(PATH, { userId, repoId: repo }))
      yield page.map(({ userId: id, email = id, repoId, repoName, source }) => ({
        email,
        // An old store may have grants of unknown repositories.
        repo: repoName ?? `#${repoId}`,
        repoId,
        source,
      }));
}

async function list(flags: ListFlags, context: CliContext): Promise<void> {
  const { user, repo } = flags;
  if (user !== undefined && repo !== undefined)
    throw new UsageError('give --user or --repo, not both');
  await withOperator(flags, (operator) =>
    printTable(context, flags, pagesOf(operator, flags), {
      columns: ['email', 'repo', 'source'],
      cellsOf: (row) => row,
      hasHead: false,
    }),
  );
}

export function addGrantCommand(program: Command, context: CliContext): void {
  const group = program
    .command('grant')
    .summary('give users access to repositories')
    .description(
      'Adds and removes grants for repositories whose permissions are enforced. Grants have an effect only ' +
        'with a licence for "permissions".',
    );
  for (const [name, summary, heading, run] of [
    ['add', 'let a user see repositories', 'Lets a user see repositories', add],
    ['remove', 'remove grants', 'Removes grants', remove],
  ] as const) {
    const command = group
      .command(name)
      .summary(summary)
      .description(`${heading}. If a name is unknown, nothing is changed.`)
      .argument('<email>', 'e-mail address of the user')
      .argument('<repo...>', 'names or ids of repositories');
    addAction(command, context, run, [
      `trawl grant ${name} ada@example.com github.com/owner/name local/tools`,
    ]);
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
  addAction(listing, context, list, [
    'trawl grant list',
    'trawl grant list --repo github.com/owner/name --json',
  ]);
  addExamples(group, [
    'trawl grant add ada@example.com github.com/owner/name',
    'trawl grant list --user ada@example.com',
  ]);
}
