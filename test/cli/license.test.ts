// `trawl license` as a child process: key pairs, issuing, checking; what goes to which stream, exit codes,
// modes of files, and that no private key is shown.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parsePublicKey } from '../../daemon/accounts/licence-key.ts';

const MAIN = fileURLToPath(new URL('fake-main.js', import.meta.url));

const folder = mkdtempSync(path.join(tmpdir(), 'trawl-license-'));
after(() => rmSync(folder, { recursive: true }));

const keyFile = path.join(folder, 'key.pem');
let publicKey = '';

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function license(
  args: readonly string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [MAIN, 'license', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    timeout: 240_000,
  });
  const code = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  child.stdin.on('error', () => undefined); // it may end without reading
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
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

test('keygen: a file that is there stays as it is', async () => {
  const before = readFileSync(keyFile, 'utf8');
  const { code, stdout, stderr } = await license(['keygen', keyFile]);
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /cannot write .*key\.pem.*exist/);
  assert.equal(readFileSync(keyFile, 'utf8'), before);
});

test('issue, verify: a licence alone on standard output, valid under the pair', async () => {
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
  const shown = await license(['verify', file], { env });
  assert.equal(shown.code, 0);
  assert.equal(shown.stderr, '');
  assert.match(shown.stdout, /^state: +valid\nid: +[0-9a-f-]{36}\ncustomer: +Acme \\x1b\[31m\n/);
  assert.match(shown.stdout, /\nentitlements: oauth, audit, mcp\nseats: +5\nissued: +2/);
  assert.match(shown.stdout, /\nexpires: +2999-01-01T00:00:00\.000Z\n$/);
  const json = await license(['verify', '--json', '--public-key', publicKey, '-'], {
    input: licence,
  });
  assert.equal(json.code, 0);
  const description: Record<string, unknown> = JSON.parse(json.stdout);
  assert.equal(description['state'], 'valid');
  assert.deepEqual(description['entitlements'], ['oauth', 'audit', 'mcp']);
});

test('verify: what is not valid is exit 1, with its state', async () => {
  const env = { TRAWL_LICENSE_PUBLIC_KEY: publicKey };
  const options = ['--entitlement', 'audit', '--expires'];
  const old = await license(['issue', '--key', keyFile, ...options, '2001-01-01']);
  assert.equal(old.code, 0);
  assert.match(old.stderr, /already expired/);
  const good = await issued(...options, '1h');
  const table: [input: string, env: Record<string, string>, shown: RegExp][] = [
    [old.stdout, env, /^state: +expired\n[^]*entitlements: audit\n/],
    ['', env, /^state: none\n$/],
    ['words', env, /^state: +invalid\nreason: +it is not a signed JWT\n$/],
    [good, {}, /^state: +invalid\nreason: +the signature does not fit the public key\n$/],
  ];
  for (const [input, env, shown] of table) {
    const { code, stdout, stderr } = await license(['verify', '-'], { env, input });
    assert.match(stdout, shown);
    assert.equal(code, 1);
    assert.equal(stderr, '');
  }
});

const ISSUE = ['issue', '--key', keyFile, '--entitlement', 'audit', '--expires', '1d'];

const MISTAKES: readonly (readonly [name: string, args: readonly string[], message: RegExp])[] = [
  ['no subcommand', [], /Usage: trawl license/],
  ['unknown subcommand', ['isue'], /unknown command 'isue'[^]*issue/],
  ['keygen without file', ['keygen'], /missing required argument 'file'/],
  ['no key', ['issue', '--entitlement', 'audit', '--expires', '1d'], /--key/],
  ['no entitlement', ['issue', '--key', keyFile, '--expires', '1d'], /--entitlement/],
  ['no expiry', ['issue', '--key', keyFile, '--entitlement', 'audit'], /--expires/],
  ['unknown entitlement', [...ISSUE, '--entitlement', 'auditt'], /auditt; there are: .*audit/],
  ['empty entitlement', [...ISSUE, '--entitlement', 'audit,'], /name or names/],
  ['bad expiry', [...ISSUE, '--expires', 'soon'], /Give a date/],
  ['no seats', [...ISSUE, '--seats', '0'], /1 or more/],
  ['no such key file', [...ISSUE, '--key', path.join(folder, 'none')], /cannot read/],
  ['no such licence file', ['verify', path.join(folder, 'none')], /cannot read/],
  ['verify without file', ['verify'], /missing required argument/],
  ['bad public key', ['verify', '--public-key', 'x', '-'], /not an Ed25519 public key/],
];

for (const [name, args, message] of MISTAKES) {
  test(`mistake: ${name}`, async () => {
    const { code, stdout, stderr } = await license(args);
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  });
}

test('a file that holds no private key is refused without showing it', async () => {
  const file = path.join(folder, 'other.pem');
  writeFileSync(file, 'very secret words');
  const { code, stdout, stderr } = await license([...ISSUE, '--key', file]);
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /not an Ed25519 private key/);
  assert.ok(!stderr.includes('very secret'));
});

for (const command of ['keygen', 'issue', 'verify']) {
  test(`help: trawl license ${command} --help`, async () => {
    const { code, stdout } = await license([command, '--help']);
    assert.equal(code, 0);
    assert.match(stdout, /\nExamples:\n {2}\$ trawl license /);
  });
}
