// `trawl verify [SHARD...]`: checks every byte of shards.

import type { Command } from 'commander';
import { type CliContext, EXIT_NONE, EXIT_OK } from '../context.ts';
import { countOf } from '../format.ts';
import type { ShardCheck } from '../index-files.ts';
import { addExamples, addFileOptions } from '../options.ts';
import { escapeControls } from '../terminal-text.ts';

export function describeCheck({ path, problems, deadCount = 0, outOfService }: ShardCheck): string {
  const state = problems.length === 0 ? 'valid' : 'damaged';
  const notes = [
    ...problems,
    ...(deadCount > 0 ? [`${countOf(deadCount, 'doc')} in no revision`] : []),
    ...(outOfService === undefined ? [] : [`out of service: ${outOfService}`]),
  ];
  const detail = notes.length === 0 ? '' : `: ${notes.join('; ')}`;
  return `${state} ${escapeControls(path + detail)}`;
}

export function describeChecks(checks: readonly ShardCheck[]): string {
  const damaged = checks.filter(({ problems }) => problems.length > 0).length;
  const dead = checks.reduce((sum, { deadCount = 0 }) => sum + deadCount, 0);
  const verdict =
    damaged === 0
      ? 'all valid'
      : `${countOf(damaged, 'file')} damaged; the next start of "trawl serve" rebuilds them`;
  const rest =
    dead === 0
      ? ''
      : `; ${countOf(dead, 'doc')} in no revision, which is no damage: merges remove them`;
  return `${countOf(checks.length, 'file')} checked, ${verdict}${rest}`;
}

export function addVerifyCommand(program: Command, context: CliContext): void {
  const { stdout, stderr } = context;
  const command = program
    .command('verify')
    .summary('check shards for damage')
    .description(
      'Checks every byte of the given shards, or of all shards of the data directory and the files beside them.\n' +
        'Exit code: 0 all valid, 1 problems found, 2 could not run.',
    )
    .argument('[shard...]', 'paths of shard files');
  addFileOptions(command);
  addExamples(command, ['trawl verify', 'trawl verify --data-dir /var/lib/trawl']);
  command.action(async (paths: string[], { dataDir }: { dataDir: string }) => {
    const { verifyShards } = await import('../index-files.ts');
    const checks = await verifyShards({ dataDir, paths });
    for (const check of checks) stdout.write(`${describeCheck(check)}\n`);
    if (paths.length === 0) stderr.write(`${describeChecks(checks)}\n`);
    const isIntact = checks.every(({ problems }) => problems.length === 0);
    context.setExitCode(isIntact ? EXIT_OK : EXIT_NONE);
  });
}
