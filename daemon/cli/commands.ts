// The list of all commands of `trawl`; commands/ has a file for each.

import type { Command } from 'commander';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import { API_LABEL, readCommit, readProductVersion } from '../base/config/version.ts';
import { parserVersion } from '../engine/symbols/grammars.ts';
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
import type { CliContext } from './context.ts';
import { addExamples } from './options.ts';
import type { Commands } from './program.ts';

/** @param symbols  the engines of symbols, such as `ctags 5.9.0 /usr/bin/ctags, tree-sitter 0.27.1` */
function describeVersions(symbols: string): string {
  const commit = readCommit();
  const built = commit === '' ? '' : ` (${commit})`;
  const format = `shard format ${FORMAT_VERSION}\napi ${API_LABEL}`;
  return `trawl ${readProductVersion()}${built}\n${format}\nsymbols ${symbols}\nnode ${process.version}\n`;
}

function addVersionCommand(program: Command, { stdout }: CliContext): void {
  const command = program
    .command('version')
    .summary('show versions')
    .description(
      'Shows the versions of the product, the shard format, the API, the engines of symbols and Node.js.',
    );
  addExamples(command, ['trawl version']);
  command.action(async () => {
    // Starts processes.
    const { enginesHere } = await import('../engine/symbols/extractor.ts');
    const engines = (await enginesHere()).map(({ name, version }) => `${name} ${version}`);
    stdout.write(describeVersions(engines.join(', ')));
  });
}

export const COMMANDS: Commands = {
  add: [
    addServeCommand,
    addIndexCommand,
    addSearchCommand,
    addExplainCommand,
    addBenchCommand,
    addInspectCommand,
    addVerifyCommand,
    addMcpCommand,
    addUserCommand,
    addKeyCommand,
    addGrantCommand,
    addRepoCommand,
    addStatusCommand,
    addDoctorCommand,
    addAuditCommand,
    addLicenceCommand,
    addConfigCommand,
    addBackupCommands,
    addCompletionCommand,
    addVersionCommand,
  ],
  versions: () => describeVersions(`tree-sitter ${parserVersion() ?? 'missing'}`),
};
