// `trawl user ...`: the users, by e-mail address. Passwords are only read from standard input.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type {
  createUser,
  deleteUser,
  getUser,
  listUsers,
  setUserPassword,
  unlinkUser,
  updateUser,
} from '../../api/accounts/member-endpoints.ts';
import type { AnswerOf, BodyOf, TypedEndpoint } from '../../api/shapes/endpoint.ts';
import type { CliContext } from '../context.ts';
import {
  callOperator,
  formatJsonLines,
  type OperatorFlags,
  printTable,
  withOperator,
} from '../operator-output.ts';
import { DATA_DIR } from '../known-sources.ts';
import { addAction, addExamples, readSecretInput } from '../options.ts';
import { countOf, formatRows } from '../format.ts';
import { escapeControls } from '../terminal-text.ts';

type UserView = AnswerOf<typeof getUser>;

const PATH = '/api/ee/user';
const ALL_PATH = '/api/ee/users';

type RoleName = 'owner' | 'member';

interface AddFlags extends OperatorFlags {
  readonly name?: string;
  readonly role?: RoleName;
  readonly passwordStdin?: true;
}

const PASSWORD_HELP = 'read the password from standard input';
const ROLES = { owner: 'OWNER', member: 'MEMBER' } as const;

function roleOf({ role }: UserView): string {
  return role === 'OWNER' ? 'owner' : 'member';
}

function limitOf({ requestsPerDay }: UserView): string {
  return requestsPerDay === null ? 'default' : String(requestsPerDay);
}

async function passwordOf(
  { passwordStdin }: { readonly passwordStdin?: true },
  { stdin }: CliContext,
): Promise<{ password?: string }> {
  return passwordStdin === undefined ? {} : { password: await readSecretInput(stdin, 'password') };
}

/** Prints the link alone on standard output; its purpose goes to standard error. */
function printLink(setupUrl: string | undefined, email: string, context: CliContext): void {
  if (setupUrl === undefined) return;
  context.stderr.write(
    `for ${escapeControls(email)} to set name and password; valid once, for 7 days, while "trawl serve" runs at this address:\n`,
  );
  context.stdout.write(`${setupUrl}\n`);
}

async function add(email: string, flags: AddFlags, context: CliContext): Promise<void> {
  const { name, role } = flags;
  const input = {
    email,
    ...omitUndefined({ name }),
    ...(role === undefined ? {} : { role: ROLES[role] }),
    ...(await passwordOf(flags, context)),
  };
  const added = await withOperator(
    flags,
    (operator) => operator.call<typeof createUser>('POST', ALL_PATH, { body: input }),
    // A folder without a data directory is probably the wrong one, unless it was named.
    flags.dataDir !== DATA_DIR,
  );
  context.stderr.write(`added ${added.email} (${roleOf(added)})\n`);
  printLink(flags.passwordStdin ? undefined : added.setupUrl, added.email, context);
}

async function list(flags: OperatorFlags, context: CliContext): Promise<void> {
  const users = await callOperator<typeof listUsers>(flags, 'GET', ALL_PATH);
  await printTable(context, flags, [users], {
    columns: ['email', 'name', 'role', 'state', 'limit', 'createdAt', 'lastActivityAt'],
    cellsOf: (user) => ({ ...user, role: roleOf(user), ...stateOf(user) }),
  });
}

function stateOf(user: UserView): { state: string; limit: string } {
  return { state: user.suspendedAt === null ? 'active' : 'suspended', limit: limitOf(user) };
}

function callFor<E extends TypedEndpoint>(
  userId: string,
  flags: OperatorFlags,
  method: E['method'],
  path: string = PATH,
  body?: BodyOf<E>,
): Promise<AnswerOf<E>> {
  return callOperator<E>(flags, method, path, {
    query: { userId },
    ...(body && { body }),
  });
}

async function show(email: string, flags: OperatorFlags, context: CliContext): Promise<void> {
  const user = await callFor<typeof getUser>(email, flags, 'GET');
  const rows: [string, string | undefined][] = [
    ['email', user.email],
    ['id', user.id],
    ['name', user.name ?? undefined],
    ['role', roleOf(user)],
    ['state', stateOf(user).state],
    ['requests per day', limitOf(user)],
    ['created', user.createdAt],
    ['changed', user.updatedAt],
    ['last active', user.lastActivityAt ?? 'never'],
    ['suspended', user.suspendedAt ?? undefined],
  ];
  context.stdout.write(flags.json ? formatJsonLines([user]) : formatRows(rows));
}

type Change = BodyOf<typeof updateUser>;

type ChangeCall<Value> = [email: string, value: Value, flags: OperatorFlags, context: CliContext];

async function change(...[email, changes, flags, context]: ChangeCall<Change>): Promise<void> {
  const user = await callFor<typeof updateUser>(email, flags, 'PATCH', PATH, changes);
  const { state, limit } = stateOf(user);
  context.stderr.write(`${user.email}: ${roleOf(user)}, ${state}, requests per day: ${limit}\n`);
}

const changeRole = (...[email, role, ...rest]: ChangeCall<RoleName>) =>
  change(email, { role: ROLES[role] }, ...rest);
const changeLimit = (...[email, limit, ...rest]: ChangeCall<ReturnType<typeof limitOfText>>) =>
  change(email, { requestsPerDay: limit }, ...rest);
const suspend = (email: string, ...rest: [OperatorFlags, CliContext]) =>
  change(email, { suspended: true }, ...rest);
const restore = (email: string, ...rest: [OperatorFlags, CliContext]) =>
  change(email, { suspended: false }, ...rest);

async function remove(email: string, flags: OperatorFlags, context: CliContext): Promise<void> {
  await callFor<typeof deleteUser>(email, flags, 'DELETE');
  context.stderr.write(
    `removed ${escapeControls(email)} with all sessions, keys, tokens and grants\n`,
  );
}

async function unlink(email: string, flags: OperatorFlags, context: CliContext): Promise<void> {
  const path = `${PATH}/links`;
  const { removed } = await callFor<typeof unlinkUser>(email, flags, 'DELETE', path);
  const links = countOf(removed, 'link');
  context.stderr.write(
    `${escapeControls(email)}: removed ${links} with accounts of identity providers\n`,
  );
}

async function setPassword(email: string, flags: AddFlags, context: CliContext): Promise<void> {
  const body = await passwordOf(flags, context);
  const path = `${PATH}/password`;
  const set = callFor<typeof setUserPassword>(email, flags, 'PUT', path, body);
  const { setupUrl } = await set;
  if (setupUrl === undefined)
    context.stderr.write(`the password of ${escapeControls(email)} is set\n`);
  printLink(setupUrl, email, context);
}

function limitOfText(text: string): number | 'unlimited' | null {
  if (text === 'unlimited') return text;
  if (text === 'default') return null;
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('It must be a whole number, "unlimited" or "default".');
}

function userCommand(group: Command, name: string, summary: string, more = summary): Command {
  return group
    .command(name)
    .summary(summary)
    .description(more)
    .argument('<email>', 'e-mail address of the user');
}

export function addUserCommand(program: Command, context: CliContext): void {
  const group = program
    .command('user')
    .summary('add, change and remove users')
    .description(
      'Changes the users of an instance, on the machine of its data directory, whether or not the ' +
        'daemon runs. Requires no licence.',
    );
  const adding = userCommand(
    group,
    'add',
    'add a user',
    'Adds a user. Without a password prints a one-time link, alone on standard output, with which the user sets one.',
  )
    .option('--name <name>', 'display name')
    .addOption(
      new Option('--role <role>', 'default: member; the first user is an owner').choices(
        Object.keys(ROLES),
      ),
    )
    .option('--password-stdin', PASSWORD_HELP);
  addAction(adding, context, add, [
    'trawl user add ada@example.com --name "Ada Lovelace"',
    'trawl user add bot@example.com --password-stdin <password.txt',
  ]);
  const listing = group
    .command('list')
    .summary('list all users')
    .description('list all users')
    .option('--json', 'one JSON object per line');
  addAction(listing, context, list, ['trawl user list', 'trawl user list --json']);
  const showing = userCommand(group, 'show', 'show a user').option('--json', 'as one JSON object');
  addAction(showing, context, show, ['trawl user show ada@example.com']);
  addChangeCommands(group, context);
  addExamples(group, [
    'trawl user add ada@example.com --role owner',
    'trawl user password ada@example.com --password-stdin <password.txt',
    'trawl user limit bot@example.com 100000',
    'trawl user list',
  ]);
}

function addChangeCommands(group: Command, context: CliContext): void {
  const role = userCommand(group, 'role', 'make a user an owner or a member').addArgument(
    new Argument('<role>', 'new role').choices(Object.keys(ROLES)),
  );
  addAction(role, context, changeRole, ['trawl user role ada@example.com owner']);
  const suspending = userCommand(group, 'suspend', 'refuse every credential of a user');
  addAction(suspending, context, suspend, ['trawl user suspend ada@example.com']);
  const restoring = userCommand(group, 'restore', 'lift the suspension of a user');
  addAction(restoring, context, restore, ['trawl user restore ada@example.com']);
  const removing = userCommand(group, 'remove', 'remove a user and all data of the user');
  addAction(removing, context, remove, ['trawl user remove ada@example.com']);
  const password = userCommand(
    group,
    'password',
    'set the password of a user',
    'Sets the password, which ends the sessions of the user. Without --password-stdin prints a one-time link, ' +
      'alone on standard output, with which the user sets it.',
  ).option('--password-stdin', PASSWORD_HELP);
  addAction(password, context, setPassword, [
    'trawl user password ada@example.com --password-stdin <password.txt',
  ]);
  const unlinking = userCommand(
    group,
    'unlink',
    'remove the links of a user with accounts of identity providers',
    'Removes the links of a user with accounts of identity providers: the next sign-in with its address is linked again.',
  );
  addAction(unlinking, context, unlink, ['trawl user unlink ada@example.com']);
  const limiting = userCommand(
    group,
    'limit',
    'change the daily request limit of a user',
  ).addArgument(
    new Argument('<limit>', 'a number, "unlimited" or "default"').argParser(limitOfText),
  );
  addAction(limiting, context, changeLimit, ['trawl user limit bot@example.com unlimited']);
}
