// A session of all commands that create, take or store secrets: afterwards none of them is in a log, in any output
// but the intended one, in a backup, in other files of the data directory or, at any time, in the arguments or
// environment of a process.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { serveIndexed, startTrawl, trawl, type StartOptions } from './daemon.ts';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'staple correct horse';
const PASSPHRASE = 'tr0ub4dor and three';
const CONNECTION_TOKEN = 'a token of acme';
const LINK_TOKEN = /\/setup\?token=([0-9a-f]{64})$/m;

/** Texts of the arguments of all processes, seen over and over while `work` runs. */
async function watchArguments<Result>(work: () => Promise<Result>): Promise<[Result, Set<string>]> {
  const argumentsSeen = new Set<string>();
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        try {
          argumentsSeen.add(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
        } catch {
          // It has ended.
        }
      }
      await setTimeout(15);
    }
  })();
  const result = await work();
  over.abort();
  await watching;
  return [result, argumentsSeen];
}

/** Environments of the children of a process. */
function childEnvironments(pid: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((child) => {
      try {
        const status = readFileSync(`/proc/${child}/stat`, 'latin1');
        const parent = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
        return parent === pid ? [readFileSync(`/proc/${child}/environ`, 'latin1')] : [];
      } catch {
        return [];
      }
    });
}

function filesBelow(folder: string): [string, Buffer][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => [file, readFileSync(file)]);
}

void test('secrets occur only where they belong', async () => {
  const folder = temporaryFolder();
  const dataDir = path.join(folder, 'data');
  const logFile = path.join(folder, 'log.txt');
  const keyFile = path.join(folder, 'key.pem');
  const secrets = new Map([
    ['password', PASSWORD],
    ['new password', NEW_PASSWORD],
    ['passphrase', PASSPHRASE],
    ['connection token', CONNECTION_TOKEN],
  ]);
  /** Everything that was written where no secret belongs. */
  const texts: [string, string][] = [];
  const env: Record<string, string> = {
    TRAWL_DATA_DIR: dataDir,
    TRAWL_LOG_LEVEL: 'debug',
    TRAWL_LOG_FILE: logFile,
  };
  const environments: string[] = [];

  /**
   * Runs a command; `isExpected`: standard output is where its secret belongs. A command that takes or prints a secret is a
   * process of its own.
   */
  async function run(args: string[], input?: string, isExpected = false): Promise<string> {
    const options: StartOptions = { env, ...(input === undefined ? {} : { input }) };
    const isApart = isExpected || input !== undefined;
    const { code, stdout, stderr } = await (isApart
      ? startTrawl(args, options).ended
      : trawl(args, options));
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    texts.push([`stderr of ${args.join(' ')}`, stderr]);
    if (!isExpected) texts.push([`stdout of ${args.join(' ')}`, stdout]);
    return stdout.trim();
  }

  function note(name: string, value: string | undefined): void {
    assert.ok(value !== undefined && value.length > 8, name);
    secrets.set(name, value);
  }

  async function session(prefix: string): Promise<void> {
    const [first, second] = [`${prefix}a@x.org`, `${prefix}b@x.org`];
    const link = await run(['user', 'add', first, '--role', 'owner'], undefined, true);
    note(`${prefix} link`, LINK_TOKEN.exec(link)?.[1]);
    await run(['user', 'add', second, '--password-stdin'], `${PASSWORD}\n`);
    await run(['user', 'password', second, '--password-stdin'], NEW_PASSWORD);
    const another = await run(['user', 'password', second], undefined, true);
    note(`${prefix} second link`, LINK_TOKEN.exec(another)?.[1]);
    const create = ['key', 'create', '--user', second, '--name', 'x'];
    note(`${prefix} key`, await run(create, undefined, true));
    await run(['license', 'set', path.join(folder, 'license.jwt')]);
    for (const list of [['user', 'list'], ['user', 'show', first], ['key', 'list'], ['audit']]) {
      await run(prefix === 'on' ? list : [...list, '--json']);
    }
    await run(['license', 'show', '--json']);
    await run(
      ['backup', path.join(folder, `${prefix}sealed.gz`), '--passphrase-stdin'],
      PASSPHRASE,
    );
    await run(['backup', path.join(folder, `${prefix}plain.gz`), '--with-index']);
  }

  const [, processArguments] = await watchArguments(async () => {
    env['TRAWL_LICENSE_PUBLIC_KEY'] = await run(['license', 'keygen', keyFile]);
    note('private key', readFileSync(keyFile, 'utf8').split('\n')[1]);
    const issue = [
      'license',
      'issue',
      '--key',
      keyFile,
      '--entitlement',
      'audit',
      '--expires',
      '1d',
    ];
    const licence = await run(issue, undefined, true);
    writeFileSync(path.join(folder, 'license.jwt'), licence, { mode: 0o600 });
    note('licence key', licence);
    await session('off');
    const file = path.join(temporaryFolder(), 'trawl.json');
    const writeToken = (token: unknown): void => {
      const acme = { type: 'github', orgs: ['acme'], token };
      writeFileSync(file, JSON.stringify({ connections: { acme } }));
    };
    writeToken({ env: 'ACME_TOKEN' });
    env['TRAWL_CONFIG'] = file;
    env['ACME_TOKEN'] = CONNECTION_TOKEN;
    await run(['config', 'check']);
    const served = await serveIndexed(dataDir, [makeRepo({ 'a.txt': 'plum\n' })], {
      env: { ...env, TRAWL_LOG_FILE: '', TRAWL_BACKUP_PASSPHRASE: PASSPHRASE },
    });
    writeToken(CONNECTION_TOKEN);
    await served.process.until(/is refused/);
    writeToken({ env: CONNECTION_TOKEN });
    await served.process.until(/is refused/, 2);
    writeToken({ env: 'ACME_TOKEN' });
    await served.process.until(/read again/);
    await session('on');
    environments.push(...childEnvironments(served.process.child.pid ?? 0));
    await served.process.stop();
    delete env['TRAWL_CONFIG'];
    delete env['ACME_TOKEN'];
    texts.push(['log of the daemon', served.process.stderr + served.process.stdout]);
    const sealed = path.join(folder, 'onsealed.gz');
    env['TRAWL_DATA_DIR'] = path.join(folder, 'again');
    await run(['restore', sealed, '--passphrase-stdin'], PASSPHRASE);
    const displayed = await run(['license', 'show']);
    assert.match(displayed, /^state: +valid$/m, 'the licence key came with the passphrase');
    await run(['restore', path.join(folder, 'onplain.gz'), '--force']);
  });
  note('instance secret', readFileSync(path.join(dataDir, 'secret'), 'utf8').trim());

  for (const [file, content] of filesBelow(folder)) {
    const name = path.basename(file);
    if (name === 'key.pem' || name === 'license.jwt' || name === 'secret') continue;
    const isBackup = name.endsWith('.gz');
    const text = (isBackup ? gunzipSync(content) : content).toString('latin1');
    for (const [what, secret] of secrets) {
      // The store has the licence key to use it; it tells nothing to those who read the file.
      if (what === 'licence key' && name.startsWith('store.db')) continue;
      assert.equal(text.includes(secret), false, `${what} in ${file}`);
    }
  }
  for (const cmdline of processArguments) texts.push(['arguments of a process', cmdline]);
  for (const environment of environments) texts.push(['environment of a child', environment]);
  for (const [where, text] of texts)
    for (const [what, secret] of secrets)
      assert.equal(text.includes(secret), false, `${what} in ${where}`);
  assert.ok(processArguments.size > 5);
  assert.ok(secrets.size >= 12);
});
