// The command line. Exit codes: 0 match or success, 1 no match or problems found, 2 error. Results go to stdout only.

import { Command, CommanderError } from 'commander';
import { addAuditCommand } from './commands/audit.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addBenchCommand } from './commands/bench.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addConfigCommand } from './commands/config.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addExplainCommand } from './commands/explain.ts';
import { addGrantCommand } from './commands/grant.ts';
import { addIndexCommand } from './commands/index-sources.ts';
import { addInspectCommand } from './commands/inspect.ts';
import { addKeyCommand } from './commands/key.ts';
import { addLicenceCommand } from './commands/license.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addRepoCommand } from './commands/repo.ts';
import { addSearchCommand } from './commands/search.ts';
import { addServeCommand } from './commands/serve.ts';
import { addStatusCommand } from './commands/status.ts';
import { addUserCommand } from './commands/user.ts';
import { addVerifyCommand } from './commands/verify.ts';
import { type CliContext, EXIT_ERROR, EXIT_OK } from './context.ts';
import { describeError } from './errors.ts';
import { PREFIX_NAMES } from '../engine/query/prefixes.ts';
import { addExamples } from './options.ts';
import type { CliServices } from './services.ts';
import { escapeControls } from './terminal-text.ts';

type Versions = ReturnType<CliServices['versions']>;

function describeVersions(
  { product, commit, shardFormat, api }: Versions,
  symbols: string,
): string {
  const built = commit === '' ? '' : ` (${commit})`;
  const format = `shard format ${shardFormat}\napi ${api}`;
  return `trawl ${product}${built}\n${format}\nsymbols ${symbols}\nnode ${process.version}\n`;
}

function addVersionCommand(program: Command, { services, stdout }: CliContext): void {
  const command = program
    .command('version')
    .summary('show versions')
    .description(
      'Shows the versions of the product, the shard format, the API, the engines of symbols and Node.js.',
    );
  addExamples(command, ['trawl version']);
  command.action(async () => {
    const symbols = await services.symbolEngines();
    stdout.write(describeVersions(services.versions(), symbols));
  });
}

/** An error of the argument parser repeats arguments: only its own line ends stay. */
function escapeDiagnostic(text: string): string {
  return text
    .split(/\n(?=\(Did you mean |$)/)
    .map(escapeControls)
    .join('\n');
}

export function createProgram(context: CliContext): Command {
  const versions = context.services.versions();
  const program = new Command('trawl')
    .description('Code search: exact, over git repositories, in milliseconds.')
    .version(
      describeVersions(versions, `tree-sitter ${versions.treeSitter}`).trimEnd(),
      '-V, --version',
      'show versions',
    )
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
  addServeCommand(program, context);
  addIndexCommand(program, context);
  addSearchCommand(program, context);
  addExplainCommand(program, context);
  addBenchCommand(program, context);
  addInspectCommand(program, context);
  addVerifyCommand(program, context);
  addMcpCommand(program, context);
  addUserCommand(program, context);
  addKeyCommand(program, context);
  addGrantCommand(program, context);
  addRepoCommand(program, context);
  addStatusCommand(program, context);
  addDoctorCommand(program, context);
  addAuditCommand(program, context);
  addLicenceCommand(program, context);
  addConfigCommand(program, context);
  addBackupCommands(program, context);
  addCompletionCommand(program, context);
  addVersionCommand(program, context);
  return program;
}

/** A negated filter, such as `-file:test`, is a word of a query, not a row of options: with a blank before it, it is read so. */
function asWord(arg: string): string {
  const name = /^-([a-z]+):/.exec(arg)?.[1];
  return name !== undefined && PREFIX_NAMES.includes(name) ? ` ${arg}` : arg;
}

/** Never rejects: a failure is printed on standard error and sets the exit code. */
export async function runProgram(args: readonly string[], context: CliContext): Promise<void> {
  try {
    await createProgram(context).parseAsync(args.map(asWord), { from: 'user' });
  } catch (error) {
    // The argument parser has already printed its message, or the help.
    const isReported = error instanceof CommanderError;
    if (!isReported) context.stderr.write(`${describeError(error)}\n`);
    context.setExitCode(isReported && error.exitCode === 0 ? EXIT_OK : EXIT_ERROR);
  }
}
