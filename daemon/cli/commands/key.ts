// `trawl key ...`: API keys of any user. The value of a new key is printed once, alone on standard output.

import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import {
  callOperator,
  formatJsonLines,
  formatTable,
  type OperatorFlags,
} from '../operator-output.ts';
import { addCommonOptions, addExamples } from '../options.ts';
import { escapeControls } from '../terminal-text.ts';

interface KeyFlags extends OperatorFlags {
  readonly user?: string;
}

interface CreateFlags extends OperatorFlags {
  readonly user: string;
  readonly name: string;
}

async function create(flags: CreateFlags, context: CliContext): Promise<void> {
  const { user: email, name } = flags;
  const made = await callOperator(context, flags, 'key.create', { email, name });
  context.stderr.write(
    `created key ${made.id} for ${made.email}; its value is shown only this once\n`,
  );
  context.stdout.write(`${made.key}\n`);
}

async function list(flags: KeyFlags, context: CliContext): Promise<void> {
  const keys = await callOperator(context, flags, 'key.list', { email: flags.user });
  const columns = ['id', 'email', 'name', 'state', 'createdAt', 'lastUsedAt'] as const;
  context.stdout.write(flags.json ? formatJsonLines(keys) : formatTable(columns, keys));
}

async function revoke(id: string, flags: OperatorFlags, context: CliContext): Promise<void> {
  const { name } = await callOperator(context, flags, 'key.revoke', { id });
  context.stderr.write(`revoked key ${escapeControls(`${id} (${name})`)}\n`);
}

export function addKeyCommand(program: Command, context: CliContext): void {
  const group = program
    .command('key')
    .summary('create, list and revoke API keys')
    .description('Creates, lists and revokes API keys, whether or not the daemon runs.');
  const creating = group
    .command('create')
    .summary('create an API key')
    .description(
      'Creates an API key and prints its value, alone on standard output, only this once.',
    )
    .requiredOption('--user <email>', 'owner of the key')
    .requiredOption('--name <name>', 'name of the key, unique for the user');
  addCommonOptions(creating).action((flags: CreateFlags) => create(flags, context));
  addExamples(creating, ['trawl key create --user bot@example.com --name ci >key.txt']);
  const listing = group
    .command('list')
    .summary('list API keys')
    .description('Lists API keys, without their values.')
    .option('--user <email>', 'only keys of this user')
    .option('--json', 'one JSON object per line');
  addCommonOptions(listing).action((flags: KeyFlags) => list(flags, context));
  addExamples(listing, ['trawl key list', 'trawl key list --user bot@example.com --json']);
  const revoking = group
    .command('revoke')
    .summary('revoke an API key')
    .description('Revokes an API key and the scoped tokens created with it, at once.')
    .argument('<id>', 'id of the key, as listed');
  addCommonOptions(revoking).action((id: string, flags: OperatorFlags) =>
    revoke(id, flags, context),
  );
  addExamples(revoking, ['trawl key revoke 6f0c5a2e-54a1-4d0e-9a52-0f6f3c1f1a11']);
  addExamples(group, [
    'trawl key create --user bot@example.com --name ci >key.txt',
    'trawl key list --user bot@example.com',
  ]);
}
