// `trawl license`: key pairs, issuing, checking; output streams, exit codes, file modes, and that no private key is
// printed.

import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { parseExpiry } from '../../daemon/cli/commands/license.ts';
import { parsePublicKey } from '../../daemon/accounts/licence-key.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { refuses, trawl, type Outcome, type StartOptions } from '../e2e/daemon.ts';

const folder = temporaryFolder();
const keyFile = path.join(folder, 'key.pem');
let publicKey = '';

function license(args: readonly string[], options?: StartOptions): Promise<Outcome> {
  return trawl(['license', ...args], options);
}

/** The licence key that these options make. */
async function issued(...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await license(['issue', '--key', keyFile, ...options]);
  assert.equal(code, 0, stderr);
  return stdout;
}

before(async () => {
  const { code, stdout, stderr } = await license(['keygen', keyFile]);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, '');
  publicKey = stdout.trim();
});

test('keygen: the private key in a file of mode 0600, the public one on standard output', () => {
  assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  assert.match(readFileSync(keyFile, 'utf8'), /^-----BEGIN PRIVATE KEY-----\n/);
  assert.equal(parsePublicKey(publicKey).asymmetricKeyType, 'ed25519');
  assert.match(publicKey, /^\S{44}$/);
});

test('keygen: an existing file is not overwritten', async () => {
  const before = readFileSync(keyFile, 'utf8');
  await refuses(['license', 'keygen', keyFile], /cannot write .*key\.pem.*exist/);
  assert.equal(readFileSync(keyFile, 'utf8'), before);
});

test('issue, verify: only a licence on standard output, valid with the key pair', async () => {
  const licence = await issued(
    '--customer=Acme \u001b[31m',
    '--entitlement=audit, oauth',
    '--entitlement=mcp',
    '--expires=2999-01-01',
    '--seats=5',
  );
  assert.match(licence, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const file = path.join(folder, 'license.jwt');
  writeFileSync(file, licence);
  const env = { TRAWL_LICENSE_PUBLIC_KEY: publicKey };
  const displayed = await license(['verify', file], { env });
  assert.equal(displayed.code, 0);
  assert.equal(displayed.stderr, '');
  assert.match(
    displayed.stdout,
    /^state: +valid\nid: +[0-9a-f-]{36}\ncustomer: +Acme \\x1b\[31m\n/,
  );
  assert.match(displayed.stdout, /\nentitlements: oauth, audit, mcp\nseats: +5\nissued: +2/);
  assert.match(displayed.stdout, /\nexpires: +2999-01-01T00:00:00\.000Z\n$/);
  const json = await license(['verify', '--json', '--public-key', publicKey, '-'], {
    input: licence,
  });
  assert.equal(json.code, 0);
  const description: Record<string, unknown> = JSON.parse(json.stdout);
  assert.equal(description['state'], 'valid');
  assert.deepEqual(description['entitlements'], ['oauth', 'audit', 'mcp']);
});

test('verify: an invalid licence is exit 1, with its state', async () => {
  const env = { TRAWL_LICENSE_PUBLIC_KEY: publicKey };
  const options = ['--entitlement', 'audit', '--expires'];
  const old = await license(['issue', '--key', keyFile, ...options, '2001-01-01']);
  assert.equal(old.code, 0);
  assert.match(old.stderr, /already expired/);
  const good = await issued(...options, '1h');
  const table: [input: string, env: Record<string, string>, displayed: RegExp][] = [
    [old.stdout, env, /^state: +expired\n[^]*entitlements: audit\n/],
    ['', env, /^state: none\n$/],
    ['words', env, /^state: +invalid\nreason: +it is not a signed JWT\n$/],
    [good, {}, /^state: +invalid\nreason: +the signature does not fit the public key\n$/],
  ];
  for (const [input, env, displayed] of table) {
    const { code, stdout, stderr } = await license(['verify', '-'], { env, input });
    assert.match(stdout, displayed);
    assert.equal(code, 1);
    assert.equal(stderr, '');
  }
});

const ISSUE = ['issue', '--key', keyFile, '--entitlement', 'audit', '--expires', '1d'];

const INVALID_CALLS: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [[], /Usage: trawl license/],
  [['isue'], /unknown command 'isue'[^]*issue/],
  [['keygen'], /missing required argument 'file'/],
  [['issue', '--entitlement', 'audit', '--expires', '1d'], /--key/],
  [['issue', '--key', keyFile, '--expires', '1d'], /--entitlement/],
  [['issue', '--key', keyFile, '--entitlement', 'audit'], /--expires/],
  [[...ISSUE, '--entitlement', 'auditt'], /auditt; there are: .*audit/],
  [[...ISSUE, '--entitlement', 'audit,'], /name or names/],
  [[...ISSUE, '--expires', 'soon'], /Give a date/],
  [[...ISSUE, '--seats', '0'], /1 or more/],
  [[...ISSUE, '--key', path.join(folder, 'none')], /cannot read/],
  [['verify', path.join(folder, 'none')], /cannot read/],
  [['verify', '/dev/zero'], /cannot read .*: \/dev\/zero is a device and not a file/],
  [['verify'], /missing required argument/],
  [['verify', '--public-key', 'x', '-'], /not an Ed25519 public key/],
];

test('usage errors are refused with the reason', async () => {
  for (const [args, message] of INVALID_CALLS) await refuses(['license', ...args], message);
});

test('a file without a private key is refused and not printed', async () => {
  const file = path.join(folder, 'other.pem');
  writeFileSync(file, 'very secret words');
  const stderr = await refuses(['license', ...ISSUE, '--key', file], /not an Ed25519 private key/);
  assert.ok(!stderr.includes('very secret'));
});

const NOW_MS = Date.UTC(2026, 5, 1, 12);

const EXPIRIES: readonly (readonly [text: string, time: string])[] = [
  ['2030-12-31', '2030-12-31T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2030-12-31T18:00Z', '2030-12-31T18:00:00.000Z'],
  ['2030-12-31T18:00:01.5+02:00', '2030-12-31T16:00:01.500Z'],
  ['2001-01-01', '2001-01-01T00:00:00.000Z'],
  ['45s', '2026-06-01T12:00:45.000Z'],
  ['30m', '2026-06-01T12:30:00.000Z'],
  ['12h', '2026-06-02T00:00:00.000Z'],
  ['90d', '2026-08-30T12:00:00.000Z'],
];

test('an expiry is a date, a time or a duration', () => {
  for (const [text, time] of EXPIRIES)
    assert.equal(new Date(parseExpiry(text, NOW_MS)).toISOString(), time, text);
});

const NO_EXPIRY = [
  '',
  '90',
  'd',
  '0d',
  '-1d',
  '1.5d',
  '1y',
  '2030-02-30',
  '2030-13-01',
  '2030-1-1',
];
const NO_TIME = ['2030-12-31T25:00Z', '2030-12-31T18:00', 'tomorrow', '99999999d', '1792000000'];

test('other values are not an expiry', () => {
  for (const text of [...NO_EXPIRY, ...NO_TIME])
    assert.throws(() => parseExpiry(text, NOW_MS), /Give a date/, text);
});
