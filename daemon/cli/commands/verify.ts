// `trawl verify [SHARD...]`: checks every byte of shards.

import type { Command } from 'commander';
import { EXIT_NONE, EXIT_OK } from '../context.ts';
import type { CliContext } from '../context.ts';
import { addCommonOptions, addExamples } from '../options.ts';
import type { ShardCheck } from '../services.ts';
import { escapeControls } from '../terminal-text.ts';

/** One line, without line feed. */
export function describeCheck({ path, problems }: ShardCheck): string {
  const state = problems.length === 0 ? 'sound' : 'damaged';
  const detail = problems.length === 0 ? '' : `: ${problems.join('; ')}`;
  return `${state} ${escapeControls(path + detail)}`;
}

/** Adds the command to `program`. */
export function addVerifyCommand(program: Command, context: CliContext): void {
  const { services, stdout } = context;
  const command = program
    .command('verify')
    .summary('check shards for damage')
    .description(
      'Checks every byte of the given shards, or of all shards of the data directory and of what belongs to them.\n' +
        'Exit code: 0 all sound, 1 problems found, 2 could not run.',
    )
    .argument('[shard...]', 'paths of shard files');
  addCommonOptions(command);
  addExamples(command, ['trawl verify', 'trawl verify --data-dir /var/lib/trawl']);
  command.action(async (paths: string[], { dataDir }: { dataDir: string }) => {
    const checks = await services.verifyShards({ dataDir, paths });
    for (const check of checks) stdout.write(`${describeCheck(check)}\n`);
    const isSound = checks.every(({ problems }) => problems.length === 0);
    context.setExitCode(isSound ? EXIT_OK : EXIT_NONE);
  });
}
