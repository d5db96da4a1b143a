// `trawl repo ...`: the known repositories, and who may see them.

import type { Command } from 'commander';
import type {
  changeRepoRules,
  listRepoRules,
  removeRepos,
} from '../../api/sources/repo-rule-endpoints.ts';
import type { AnswerOf } from '../../api/shapes/endpoint.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../errors.ts';
import { callOperator, type OperatorFlags, printTable, withOperator } from '../operator-output.ts';
import { addAccessOptions, addAction, addExamples, repoChange } from '../options.ts';

const PATH = '/api/ee/repos';
type RepoRow = AnswerOf<typeof listRepoRules>[number];

const TABLE = {
  columns: [
    'repoId',
    'repo',
    'visibility',
    'enforcement',
    'state',
    'indexedAt',
    'path',
    'failure',
  ] as const,
  cellsOf: (row: RepoRow) => row,
};

function list(flags: OperatorFlags, context: CliContext): Promise<void> {
  return withOperator(flags, (operator) =>
    printTable(context, flags, operator.pages<typeof listRepoRules>(PATH), TABLE),
  );
}

async function set(repos: string[], flags: OperatorFlags, context: CliContext): Promise<void> {
  const change = repoChange(flags);
  if (Object.keys(change).length === 0)
    throw new UsageError('say what to change: --visibility, --enforce-permissions or another');
  const body = { repos, ...change };
  const rows = await callOperator<typeof changeRepoRules>(flags, 'PATCH', PATH, { body });
  await printTable(context, flags, [rows], TABLE);
}

async function remove(repos: string[], flags: OperatorFlags, context: CliContext): Promise<void> {
  const rows = await callOperator<typeof removeRepos>(flags, 'DELETE', PATH, {
    body: { repos },
  });
  await printTable(context, flags, [rows], TABLE);
}

export function addRepoCommand(program: Command, context: CliContext): void {
  const group = program
    .command('repo')
    .summary('list repositories, set who may see them, remove them')
    .description(
      'Lists the known repositories, changes who may see them, and removes them. Changes take effect at once.',
    );
  const listing = group
    .command('list')
    .summary('list repositories')
    .description(
      'Lists repositories: id, name, visibility, enforcement, whether the running daemon serves it, when it was last ' +
        'indexed, where the source is, and why the last job of the running daemon failed.',
    )
    .option('--json', 'one JSON object per line');
  addAction(listing, context, list, ['trawl repo list']);
  const setting = group
    .command('set')
    .summary('set who may see repositories')
    .description('Changes who may see repositories; if a name is unknown, nothing is changed.')
    .argument('<repo...>', 'names or ids of repositories')
    .option('--json', 'one JSON object per line');
  addAccessOptions(setting);
  addAction(setting, context, set, [
    'trawl repo set --no-enforce-permissions local/tools',
    'trawl repo set --visibility private --enforce-permissions github.com/owner/name',
  ]);
  const removing = group
    .command('remove')
    .summary('remove repositories that nothing serves')
    .description(
      'Removes repositories with their index, grants and clones; sources stay untouched. If one is served, or listed by a ' +
        'connection, the command is refused and nothing is removed.',
    )
    .argument('<repo...>', 'names or ids of repositories')
    .option('--json', 'one JSON object per line');
  addAction(removing, context, remove, ['trawl repo remove local/old-tools']);
  addExamples(group, ['trawl repo list', 'trawl repo set --no-enforce-permissions local/tools']);
}
