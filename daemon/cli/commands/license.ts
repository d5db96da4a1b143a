// `trawl license ...`: creates key pairs, issues and checks licence keys. Private keys stay in files, out of arguments.

import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Entitlement, ReadLicence } from '../../accounts/licence.ts';
import type {
  getLicence,
  removeLicence,
  setLicence,
} from '../../api/instance/instance-endpoints.ts';
import type { AnswerOf } from '../../api/shapes/endpoint.ts';
import { messageOf } from '../../base/caught.ts';
import { readOwn } from '../../base/own-file.ts';
import { type CliContext, EXIT_NONE, EXIT_OK } from '../context.ts';
import { UsageError } from '../errors.ts';
import { DATA_DIR } from '../known-sources.ts';
import { formatRows } from '../format.ts';
import {
  callOperator,
  formatJsonLines,
  type OperatorFlags,
  withOperator,
} from '../operator-output.ts';
import { addAction, addExamples, integer } from '../options.ts';

const PATH = '/api/license';

interface IssueFlags {
  readonly key: string;
  readonly customer?: string;
  readonly entitlement: readonly string[];
  readonly expires: number;
  readonly seats?: number;
}

interface VerifyFlags {
  readonly publicKey?: string;
  readonly json?: true;
}

// Loaded on first use, as other commands start faster without it.
const loadKeys = () => import('../../accounts/licence-key.ts');
const loadLicences = () => import('../../accounts/licence.ts');
const loadIssuing = () => import('../../accounts/licence-issue.ts');

function nameList(value: string, previous: readonly string[] = []): readonly string[] {
  const names = value.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('It must be a name or names.');
  return [...previous, ...names];
}

function readFile(file: string): string {
  try {
    return readOwn(file).toString();
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function writePrivateKey(file: string, privateKey: string): void {
  try {
    // Safety: `wx` never overwrites an existing key or follows a link.
    writeFileSync(file, privateKey, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${messageOf(error)}`, { cause: error });
  }
}

async function toEntitlements(names: readonly string[]): Promise<Entitlement[]> {
  const { ENTITLEMENTS } = await loadLicences();
  const unknown = names.find((name) => !ENTITLEMENTS.some((entitlement) => entitlement === name));
  if (unknown !== undefined) {
    throw new UsageError(`no such entitlement: ${unknown}; there are: ${ENTITLEMENTS.join(', ')}`);
  }
  return ENTITLEMENTS.filter((name) => names.includes(name));
}

async function issue(flags: IssueFlags, { stdout, stderr }: CliContext): Promise<void> {
  const { customer, seats, expires: expiresAtMs } = flags;
  const entitlements = await toEntitlements(flags.entitlement);
  const { parsePrivateKey } = await loadKeys();
  const nowMs = Date.now();
  const licence = await (
    await loadIssuing()
  ).issueLicence(parsePrivateKey(readFile(flags.key)), {
    iat: Math.floor(nowMs / 1000),
    exp: Math.floor(expiresAtMs / 1000),
    entitlements,
    customer,
    seats,
  });
  if (expiresAtMs <= nowMs) stderr.write('note: this licence has already expired\n');
  stdout.write(`${licence}\n`);
}

function describeRead(read: ReadLicence, state: string): [string, string | undefined][] {
  if (read.kind === 'none') return [['state', state]];
  if (read.kind === 'invalid') {
    return [
      ['state', state],
      ['reason', read.reason],
    ];
  }
  const { sub, customer, entitlements, seats, iat, nbf, exp } = read.terms;
  return [
    ['state', state],
    ['id', sub],
    ['customer', customer],
    ['entitlements', entitlements.join(', ') || 'none'],
    ['seats', seats === undefined ? undefined : String(seats)],
    ['issued', formatTime(iat)],
    ['not before', formatTime(nbf)],
    ['expires', formatTime(exp)],
  ];
}

function formatTime(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000).toISOString();
}

async function verify(file: string, flags: VerifyFlags, context: CliContext): Promise<void> {
  const { BUILT_IN_PUBLIC_KEY, parsePublicKey } = await loadKeys();
  const { Licence, readLicence } = await loadLicences();
  const publicKey = parsePublicKey(flags.publicKey ?? BUILT_IN_PUBLIC_KEY);
  const key = file === '-' ? await text(context.stdin) : readFile(file);
  const read = await readLicence(key, publicKey);
  const description = new Licence(read).describe(Date.now());
  context.stdout.write(
    flags.json
      ? `${JSON.stringify(description)}\n`
      : formatRows(describeRead(read, description.state)),
  );
  context.setExitCode(description.state === 'valid' ? EXIT_OK : EXIT_NONE);
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(?<count>[1-9][0-9]{0,8})(?<unit>[smhd])$/;
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const REFUSAL =
  'Give a date (2030-12-31, from 00:00 UTC), a time (2030-12-31T18:00:00Z) ' +
  'or a duration from now (90d, 12h, 30m, 45s).';

/** ms since the epoch. Refused: any other text, days that do not exist, years past 9999. */
export function parseExpiry(text: string, nowMs: number): number {
  const { count, unit } = DURATION.exec(text)?.groups ?? {};
  const timeMs = isUnit(unit) ? nowMs + Number(count) * UNIT_MS[unit] : parseDate(text);
  if (!Number.isFinite(timeMs) || timeMs > Date.UTC(9999, 11, 31)) {
    throw new InvalidArgumentError(REFUSAL);
  }
  return timeMs;
}

function isUnit(text: string | undefined): text is keyof typeof UNIT_MS {
  return text !== undefined && Object.hasOwn(UNIT_MS, text);
}

/** NaN if it is not a date. */
function parseDate(text: string): number {
  if (!DATE.test(text)) return Number.NaN;
  // Date.parse reads February 30th as March 2nd.
  const day = text.slice(0, 10);
  const dayMs = Date.parse(day);
  const isDay = Number.isFinite(dayMs) && new Date(dayMs).toISOString().startsWith(day);
  return isDay ? Date.parse(text) : Number.NaN;
}

function addKeygen(group: Command, { stdout }: CliContext): void {
  const command = group
    .command('keygen')
    .summary('create a key pair for licences')
    .description(
      'Creates an Ed25519 key pair. The private key goes to FILE (mode 0600, must not exist yet), the ' +
        'public key, for TRAWL_LICENSE_PUBLIC_KEY, to standard output.',
    )
    .argument('<file>', 'where to write the private key');
  addExamples(command, ['trawl license keygen license-key.pem']);
  command.action(async (file: string) => {
    const { makeLicenceKeyPair } = await loadKeys();
    const { privateKey, publicKey } = makeLicenceKeyPair();
    writePrivateKey(file, privateKey);
    stdout.write(`${publicKey}\n`);
  });
}

function addIssue(group: Command, context: CliContext): void {
  const command = group
    .command('issue')
    .summary('issue a licence key with your own private key')
    .description('Prints a licence key, alone, on standard output.')
    .requiredOption('--key <file>', 'private key file, as written by keygen')
    .option('--customer <text>', 'name of the customer, shown to owners')
    .requiredOption(
      '--entitlement <names>',
      'granted entitlements; comma-separated, repeatable',
      nameList,
    )
    .requiredOption(
      '--expires <when>',
      'a date, a time, or a duration from now such as 90d',
      (value: string) => parseExpiry(value, Date.now()),
    )
    .option('--seats <n>', 'maximum number of active members (default: unlimited)', integer(1));
  addExamples(command, [
    'trawl license issue --key license-key.pem --entitlement audit,scoped-tokens --expires 365d',
    'trawl license issue --key k.pem --customer Acme --entitlement audit --expires 2030-12-31 --seats 50',
  ]);
  command.action((flags: IssueFlags) => issue(flags, context));
}

function addVerify(group: Command, context: CliContext): void {
  const command = group
    .command('verify')
    .summary('check a licence key')
    .description(
      'Checks a licence key, offline, and shows its content.\n' +
        'Exit code: 0 valid, 1 not valid, 2 could not run.',
    )
    .argument('<file>', 'file of the licence key; - reads standard input')
    .addOption(
      new Option('--public-key <text>', 'PEM or base64 (default: the built-in key)').env(
        'TRAWL_LICENSE_PUBLIC_KEY',
      ),
    )
    .option('--json', 'JSON as in GET /api/license');
  addExamples(command, ['trawl license verify license.jwt', 'trawl license verify - <license.jwt']);
  command.action((file: string, flags: VerifyFlags) => verify(file, flags, context));
}

type License = AnswerOf<typeof getLicence>;

function describeInForce(licence: License): [string, string | undefined][] {
  const { seats, seatsUsed } = licence;
  return [
    ['state', licence.state],
    ['id', licence.licenseId],
    ['customer', licence.customer],
    ['entitlements', licence.entitlements.join(', ') || 'none'],
    ['seats', `${seatsUsed} used${seats === undefined ? '' : ` of ${seats}`}`],
    ['expires', licence.expiresAt],
  ];
}

function printInForce(licence: License, flags: OperatorFlags, { stdout }: CliContext): void {
  stdout.write(flags.json ? formatJsonLines([licence]) : formatRows(describeInForce(licence)));
}

async function show(flags: OperatorFlags, context: CliContext): Promise<void> {
  const licence = await callOperator<typeof getLicence>(flags, 'GET', PATH);
  printInForce(licence, flags, context);
}

async function set(file: string, flags: OperatorFlags, context: CliContext): Promise<void> {
  const key = file === '-' ? await text(context.stdin) : readFile(file);
  const licence = await withOperator(
    flags,
    (operator) => operator.call<typeof setLicence>('PUT', PATH, { body: { key: key.trim() } }),
    flags.dataDir !== DATA_DIR,
  );
  printInForce(licence, flags, context);
}

async function remove(flags: OperatorFlags, context: CliContext): Promise<void> {
  const licence = await callOperator<typeof removeLicence>(flags, 'DELETE', PATH);
  printInForce(licence, flags, context);
}

function addInForce(group: Command, context: CliContext): void {
  const showing = group
    .command('show')
    .summary('show the licence of the instance')
    .description('Shows the licence in force, whether or not the daemon runs.')
    .option('--json', 'JSON as in GET /api/license');
  addAction(showing, context, show, ['trawl license show']);
  const setting = group
    .command('set')
    .summary('set the licence of the instance')
    .description('Sets the licence key and shows its entitlements. An invalid key changes nothing.')
    .argument('<file>', 'file of the licence key; - reads standard input')
    .option('--json', 'JSON as in GET /api/license');
  addAction(setting, context, set, [
    'trawl license set license.jwt',
    'trawl license set - <license.jwt',
  ]);
  const removing = group
    .command('remove')
    .summary('remove the licence of the instance')
    .description('Removes the licence key that was set.')
    .option('--json', 'JSON as in GET /api/license');
  addAction(removing, context, remove, ['trawl license remove']);
}

export function addLicenceCommand(program: Command, context: CliContext): void {
  const group = program
    .command('license')
    .summary('set, issue and check licences')
    .description(
      'Shows and changes the licence of an instance; creates key pairs, issues licence keys and checks them.',
    );
  addInForce(group, context);
  addKeygen(group, context);
  addIssue(group, context);
  addVerify(group, context);
  addExamples(group, [
    'trawl license set license.jwt',
    'trawl license keygen license-key.pem',
    'trawl license issue --key license-key.pem --entitlement audit --expires 90d >license.jwt',
    'trawl license verify license.jwt',
  ]);
}
