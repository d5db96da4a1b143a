// `trawl repo ...`: the known repositories, and who may see them.

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
import { addAccessOptions, addCommonOptions, addExamples, repoChange } from '../options.ts';

const PAGE_SIZE = 5_000;
const COLUMNS = [
  'repoId',
  'repo',
  'visibility',
  'enforcement',
  'state',
  'indexedAt',
  'path',
  'failure',
] as const;

async function list(flags: OperatorFlags, { stdout, ...context }: CliContext): Promise<void> {
  await withOperator({ stdout, ...context }, flags, async (operator) => {
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const { total, rows } = await operator.call('repo.list', { offset, limit: PAGE_SIZE });
      stdout.write(flags.json ? formatJsonLines(rows) : formatTable(COLUMNS, rows, offset === 0));
      if (offset + PAGE_SIZE >= total) return;
    }
  });
}

async function set(repos: string[], flags: OperatorFlags, context: CliContext): Promise<void> {
  const change = repoChange(flags);
  if (Object.keys(change).length === 0)
    throw new UsageError('say what to change: --visibility, --enforce-permissions or another');
  const { rows } = await callOperator(context, flags, 'repo.set', { repos, ...change });
  context.stdout.write(flags.json ? formatJsonLines(rows) : formatTable(COLUMNS, rows));
}

async function remove(repos: string[], flags: OperatorFlags, context: CliContext): Promise<void> {
  const { rows } = await callOperator(context, flags, 'repo.remove', { repos });
  context.stdout.write(flags.json ? formatJsonLines(rows) : formatTable(COLUMNS, rows));
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
      'Lists repositories: id, name, visibility, enforcement, whether the running daemon serves it, when it was last\n' +
        'indexed, where the source is, and why the last job of the running daemon failed.',
    )
    .option('--json', 'one JSON object per line');
  addCommonOptions(listing).action((flags: OperatorFlags) => list(flags, context));
  addExamples(listing, ['trawl repo list']);
  const setting = group
    .command('set')
    .summary('set who may see repositories')
    .description('Changes who may see repositories; if a name is unknown, nothing is changed.')
    .argument('<repo...>', 'names or ids of repositories')
    .option('--json', 'one JSON object per line');
  addAccessOptions(setting);
  addCommonOptions(setting).action((repos: string[], flags: OperatorFlags) =>
    set(repos, flags, context),
  );
  addExamples(setting, [
    'trawl repo set --no-enforce-permissions local/tools',
    'trawl repo set --visibility private --enforce-permissions github.com/owner/name',
  ]);
  const removing = group
    .command('remove')
    .summary('remove repositories that nothing serves')
    .description(
      'Removes repositories with their index, grants and clones; sources stay untouched. If one is served, or listed by a\n' +
        'connection, the command is refused and nothing is removed.',
    )
    .argument('<repo...>', 'names or ids of repositories')
    .option('--json', 'one JSON object per line');
  addCommonOptions(removing).action((repos: string[], flags: OperatorFlags) =>
    remove(repos, flags, context),
  );
  addExamples(removing, ['trawl repo remove local/old-tools']);
  addExamples(group, ['trawl repo list', 'trawl repo set --no-enforce-permissions local/tools']);
}
