// Builds the parser of the command line from the list of commands (commands.ts). Exit codes: 0 match or success, 1 no match or
// problems found, 2 error. Results go to stdout only.

import { Command, CommanderError } from 'commander';
import { type CliContext, EXIT_ERROR, EXIT_OK } from './context.ts';
import { describeError } from './errors.ts';
import { addExamples } from './options.ts';
import { escapeControls } from './terminal-text.ts';

/** An error of the argument parser repeats arguments: only its own line ends stay. */
function escapeDiagnostic(text: string): string {
  return text
    .split(/\n(?=\(Did you mean |$)/)
    .map(escapeControls)
    .join('\n');
}

/** What a program has of the command line: commands.ts, or search-main.ts. */
export interface Commands {
  readonly add: readonly ((program: Command, context: CliContext) => void)[];
  /** What `--version` shows. */
  readonly versions: () => string;
}

export function createProgram(context: CliContext, { add, versions }: Commands): Command {
  const program = new Command('trawl')
    .description('Code search: exact, over git repositories, in milliseconds.')
    .option('-V, --version', 'show versions')
    .on('option:version', () => {
      context.stdout.write(versions());
      throw new CommanderError(0, 'commander.version', '');
    })
    .exitOverride()
    // Below the default of 40: `serve` has a term that leaves 37 of 80 columns.
    .configureHelp({ minWidthToWrap: 30 })
    .showHelpAfterError('Add --help for the options and examples.')
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: (text, write) => write(escapeDiagnostic(text)),
    });
  addExamples(program, ['trawl serve .', 'trawl index .', 'trawl search "TODO file:src"']);
  for (const one of add) one(program, context);
  return program;
}

/** Never rejects: a failure is printed on standard error and sets the exit code. */
export async function runProgram(
  args: readonly string[],
  context: CliContext,
  commands: Commands,
): Promise<void> {
  try {
    await createProgram(context, commands).parseAsync(args, { from: 'user' });
  } catch (error) {
    // The argument parser has already printed its message, or the help.
    const isReported = error instanceof CommanderError;
    if (!isReported) context.stderr.write(`${describeError(error)}\n`);
    context.setExitCode(isReported && error.exitCode === 0 ? EXIT_OK : EXIT_ERROR);
  }
}
