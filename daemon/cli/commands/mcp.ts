// `trawl mcp [PATH...]`: tools for agents over standard input and output, on the index in the data directory.

import { homedir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { type CliContext, EXIT_OK } from '../context.ts';
import { UsageError } from '../errors.ts';
import { addOwnOptions, addExamples } from '../options.ts';
import type { CommonOptions } from '../open-local.ts';
import { serveTools } from '../services.ts';

async function runMcp(
  sources: readonly string[],
  flags: CommonOptions,
  context: CliContext,
): Promise<void> {
  const folders = sources.length > 0 ? sources : [currentFolder()];
  await serveTools(folders, flags, context);
  context.setExitCode(EXIT_OK);
}

/** Errors: UsageError for folders that nobody wants to index as a whole: some programs start others there. */
function currentFolder(): string {
  const folder = process.cwd();
  if (folder !== path.parse(folder).root && folder !== homedir()) return '.';
  throw new UsageError(`${folder} is not indexed unless it is named: add the paths to search`);
}

export function addMcpCommand(program: Command, context: CliContext): void {
  const command = program
    .command('mcp')
    .summary('tools for agents, over standard input and output')
    .description(
      'Speaks the Model Context Protocol with the program that starts it: indexes the sources on first use, watches ' +
        'them, and exits at the end of its input, after the last answer. If a daemon, or another trawl mcp, has the ' +
        'data directory, its sources are searched instead, and results name those that are not. Messages go to standard error.',
    )
    .argument('[source...]', 'paths of git repositories or folders (default: the current folder)');
  addOwnOptions(command);
  addExamples(command, [
    'trawl mcp',
    'trawl mcp --data-dir ~/.cache/trawl ~/src/linux ~/src/tools',
  ]);
  command.action((sources: string[], flags: CommonOptions) => runMcp(sources, flags, context));
}
