// `trawl key ...`: API keys of any user. A new key is printed once, alone on standard output.

import type { Command } from 'commander';
import type { createKey, deleteKey, listKeys } from '../../api/accounts/account-endpoints.ts';
import type { CliContext } from '../context.ts';
import { callOperator, type OperatorFlags, printTable, withOperator } from '../operator-output.ts';
import { addAction, addExamples } from '../options.ts';
import { escapeControls } from '../terminal-text.ts';

const PATH = '/api/user/api_keys';

interface KeyFlags extends OperatorFlags {
  readonly user?: string;
}

interface CreateFlags extends OperatorFlags {
  readonly user: string;
  readonly name: string;
}

async function create(flags: CreateFlags, context: CliContext): Promise<void> {
  const body = { userId: flags.user, name: flags.name };
  const made = await callOperator<typeof createKey>(flags, 'POST', PATH, { body });
  context.stderr.write(
    `created key ${made.id} for ${made.email}; its value is shown only this once\n`,
  );
  context.stdout.write(`${made.key}\n`);
}

async function list(flags: KeyFlags, context: CliContext): Promise<void> {
  const keys = await callOperator<typeof listKeys>(flags, 'GET', PATH, {
    query: { userId: flags.user },
  });
  const columns = ['id', 'email', 'name', 'state', 'createdAt', 'lastUsedAt'] as const;
  await printTable(context, flags, [keys], { columns, cellsOf: (key) => key });
}

async function revoke(id: string, flags: OperatorFlags, context: CliContext): Promise<void> {
  const name = await withOperator(flags, async (operator) => {
    const keys = await operator.call<typeof listKeys>('GET', PATH);
    await operator.call<typeof deleteKey>('DELETE', `${PATH}/${encodeURIComponent(id)}`);
    return keys.find((key) => key.id === id)?.name ?? '';
  });
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
  addAction(creating, context, create, [
    'trawl key create --user bot@example.com --name ci >key.txt',
  ]);
  const listing = group
    .command('list')
    .summary('list API keys')
    .description('Lists API keys, without their values.')
    .option('--user <email>', 'only keys of this user')
    .option('--json', 'one JSON object per line');
  addAction(listing, context, list, [
    'trawl key list',
    'trawl key list --user bot@example.com --json',
  ]);
  const revoking = group
    .command('revoke')
    .summary('revoke an API key')
    .description('Revokes an API key and the scoped tokens created with it, at once.')
    .argument('<id>', 'id of the key, as listed');
  addAction(revoking, context, revoke, ['trawl key revoke 6f0c5a2e-54a1-4d0e-9a52-0f6f3c1f1a11']);
  addExamples(group, [
    'trawl key create --user bot@example.com --name ci >key.txt',
    'trawl key list --user bot@example.com',
  ]);
}
