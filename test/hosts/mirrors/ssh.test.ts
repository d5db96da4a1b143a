// Mirrors over ssh, from a real sshd on loopback: keys of files and agents, known, unknown and changed hosts. Needs
// sshd (Debian: openssh-server, openssh-client).
// tier: ci (long)

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import {
  commitAll,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../../sources/git/fixture.ts';
import { assertMirrors, failureOf, fetchInto, mirrorFolder } from './fetched.ts';
import { freePort, untilListening } from './git-server.ts';

const SSHD = '/usr/sbin/sshd';
const skip = !existsSync(SSHD) && 'there is no sshd';

interface Server {
  readonly url: string;
  readonly repo: string;
  readonly tree: string;
  readonly folder: string;
  readonly port: number;
}

function makeKey(file: string): void {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
}

async function startSshd(t: TestContext): Promise<Server> {
  // Why not in a folder of others: sshd wants that nobody else can write there.
  const folder = temporaryFolder();
  const port = await freePort();
  const at = (name: string): string => path.join(folder, name);
  for (const name of ['host', 'client']) makeKey(at(name));
  writeFileSync(at('allowed'), readFileSync(at('client.pub')));
  const config = [
    'ListenAddress 127.0.0.1',
    `Port ${port}`,
    `HostKey ${at('host')}`,
    `AuthorizedKeysFile ${at('allowed')}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
  ];
  writeFileSync(at('sshd_config'), `${config.join('\n')}\n`);
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const sshd = spawn(SSHD, ['-D', '-e', '-f', at('sshd_config')], { stdio: 'ignore' });
  t.after(() => sshd.kill());
  await untilListening(port);
  writeKnownHosts(at('known_hosts'), port, at('host.pub'));
  const client = [
    `UserKnownHostsFile ${at('known_hosts')}`,
    'GlobalKnownHostsFile none',
    `IdentityFile ${at('client')}`,
  ];
  writeFileSync(at('config'), `${client.join('\n')}\n`);
  useConfig(t, at('config'));
  const tree = makeRepo({ 'a.txt': 'plum\n' });
  const repo = at('one.git');
  git(folder, 'clone', '-q', '--bare', tree, repo);
  const url = `ssh://${userInfo().username}@127.0.0.1:${port}${repo}`;
  return { url, repo, tree, folder, port };
}

/** Has git run ssh with this file in place of those of the account and the system. */
function useConfig(t: TestContext, config: string): void {
  const { PATH = '' } = process.env;
  const bin = temporaryFolder();
  const script = `#!/bin/sh\nPATH='${PATH}' exec ssh -F '${config}' "$@"\n`;
  writeFileSync(path.join(bin, 'ssh'), script, { mode: 0o755 });
  process.env['PATH'] = `${bin}:${PATH}`;
  t.after(() => (process.env['PATH'] = PATH));
}

function writeKnownHosts(file: string, port: number, key: string): void {
  writeFileSync(file, `[127.0.0.1]:${port} ${readFileSync(key, 'utf8')}`);
}

describe('over ssh', { skip }, () => {
  test('a mirror follows its repository', async (t) => {
    const { url, repo, tree } = await startSshd(t);
    const folder = mirrorFolder();
    const first = await fetchInto(folder, url);
    assert.deepEqual(first, { isNew: true, isChanged: true, defaultBranch: 'refs/heads/main' });
    assertMirrors(folder, repo);
    writeFiles(tree, { 'b.txt': 'fig\n' });
    commitAll(tree);
    git(tree, 'push', '-q', repo, 'main', 'main:refs/heads/x');
    assert.equal((await fetchInto(folder, url)).isChanged, true);
    assertMirrors(folder, repo);
    assert.equal((await fetchInto(folder, url)).isChanged, false);
    const error = await failureOf(fetchInto(mirrorFolder(), `${url}.none`), 'NOT_FOUND');
    assert.match(error.message, /127\.0\.0\.1/);
  });

  test('an unknown host, or one with another key, is refused with the next step', async (t) => {
    const { url, folder, port } = await startSshd(t);
    const knownHosts = path.join(folder, 'known_hosts');
    rmSync(knownHosts);
    const unknown = await failureOf(fetchInto(mirrorFolder(), url), 'HOST_KEY_UNKNOWN');
    assert.match(unknown.message, /ssh-keyscan.*known_hosts/);
    assert.equal(existsSync(knownHosts), false, 'nobody was added');
    writeKnownHosts(knownHosts, port, path.join(folder, 'client.pub'));
    const changed = await failureOf(fetchInto(mirrorFolder(), url), 'HOST_KEY_CHANGED');
    assert.match(changed.message, /known_hosts/);
  });

  test('a rejected key, and one with a passphrase: nobody is prompted', async (t) => {
    const { url, folder } = await startSshd(t);
    writeFileSync(path.join(folder, 'allowed'), '');
    const error = await failureOf(fetchInto(mirrorFolder(), url), 'NOT_AUTHENTICATED');
    assert.match(error.message, /public key/);
    writeFileSync(path.join(folder, 'allowed'), readFileSync(path.join(folder, 'client.pub')));
    const key = path.join(folder, 'client');
    chmodSync(key, 0o600);
    execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'secret', '-f', key]);
    await failureOf(fetchInto(mirrorFolder(), url), 'NOT_AUTHENTICATED');
  });

  test('a key of an agent', async (t) => {
    const { url, repo, folder } = await startSshd(t);
    const socket = path.join(folder, 'agent');
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    t.after(() => agent.kill());
    while (!existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 10));
    const before = process.env['SSH_AUTH_SOCK'];
    process.env['SSH_AUTH_SOCK'] = socket;
    t.after(() => {
      if (before === undefined) delete process.env['SSH_AUTH_SOCK'];
      else process.env['SSH_AUTH_SOCK'] = before;
    });
    execFileSync('ssh-add', ['-q', path.join(folder, 'client')], { stdio: 'ignore' });
    rmSync(path.join(folder, 'client'));
    const mirror = mirrorFolder();
    await fetchInto(mirror, url);
    assertMirrors(mirror, repo);
  });

  test('a host that is down', async (t) => {
    const { url, port } = await startSshd(t);
    const down = url.replace(`:${port}`, `:${await freePort()}`);
    await failureOf(fetchInto(mirrorFolder(), down), 'HOST_UNAVAILABLE');
  });
});
