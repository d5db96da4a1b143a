// All commands.

import type { Command } from 'commander';
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
import type { CliServices } from './services.ts';

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

export const COMMANDS: Commands<CliContext> = {
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
  versions({ services }) {
    const versions = services.versions();
    return describeVersions(versions, `tree-sitter ${versions.treeSitter}`);
  },
};
