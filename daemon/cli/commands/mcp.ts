// `trawl mcp [PATH...]`: the tools for agents over standard input and output, on the index in the data directory.

import { homedir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { type CliContext, EXIT_OK } from '../context.ts';
import { UsageError } from '../errors.ts';
import { addOwnOptions, addExamples, commonOptions } from '../options.ts';
import type { CommonOptions } from '../services.ts';

async function runMcp(
  sources: readonly string[],
  flags: CommonOptions,
  context: CliContext,
): Promise<void> {
  const given = sources.length > 0 ? sources : [currentFolder()];
  await context.services.serveTools({ ...commonOptions(flags), sources: given }, context);
  context.setExitCode(EXIT_OK);
}

/** Errors: UsageError where nobody means all that is below: some programs start others in such a folder. */
function currentFolder(): string {
  const folder = process.cwd();
  if (folder !== path.parse(folder).root && folder !== homedir()) return '.';
  throw new UsageError(`${folder} is not indexed unless it is named: add the paths to search`);
}

/** Adds the command to `program`. */
export function addMcpCommand(program: Command, context: CliContext): void {
  const command = program
    .command('mcp')
    .summary('tools for agents, over standard input and output')
    .description(
      'Speaks the Model Context Protocol with the program that starts it, without a daemon: indexes the sources at\n' +
        'the first use, watches them, and ends with its input. Messages go to standard error.',
    )
    .argument('[source...]', 'paths of git repositories or folders (default: the current folder)');
  addOwnOptions(command);
  addExamples(command, [
    'trawl mcp',
    'trawl mcp --data-dir ~/.cache/trawl ~/src/linux ~/src/tools',
  ]);
  command.action((sources: string[], flags: CommonOptions) => runMcp(sources, flags, context));
}
