// Dependencies are installed when missing or different from the lock file, and only then; all run on the oldest
// promised Node.js. And the check of the port.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = mkdtempSync(path.join(tmpdir(), 'trawl-install-'));
after(() => rmSync(root, { recursive: true, force: true }));
const SCRIPT = pathToFileURL(path.resolve('scripts/install.mjs')).href;
const LOCK = path.join(root, 'package-lock.json');

/** A project with one dependency, a folder of its own, so that nothing is fetched. */
function makeProject(): void {
  mkdirSync(path.join(root, 'one'));
  write('one/package.json', { name: 'one', version: '1.0.0' });
  write('package.json', { name: 'project', version: '1.0.0', dependencies: { one: 'file:one' } });
  npm('install');
}

function write(name: string, content: object): void {
  writeFileSync(path.join(root, name), JSON.stringify(content));
}

function npm(command: string): void {
  const result = spawnSync('npm', [command, '--offline', '--no-audit', '--no-fund'], { cwd: root });
  assert.equal(result.status, 0, String(result.stderr));
}

/** Whether it installed something. */
function ensureInstalled(): boolean {
  const code = `import { ensureInstalled } from '${SCRIPT}'; ensureInstalled(${JSON.stringify(root)});`;
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', code]);
  assert.equal(result.status, 0, String(result.stderr));
  return String(result.stderr).includes('Installing');
}

test('installed packages are not installed again, missing and outdated ones are', () => {
  makeProject();
  npm('ci');
  assert.equal(ensureInstalled(), false);
  rmSync(path.join(root, 'node_modules'), { recursive: true });
  assert.equal(ensureInstalled(), true);
  assert.equal(ensureInstalled(), false);
  write('one/package.json', { name: 'one', version: '1.0.1' });
  writeFileSync(
    LOCK,
    readFileSync(LOCK, 'utf8').replace('"version": "1.0.0"\n    }', '"version": "1.0.1"\n    }'),
  );
  assert.match(readFileSync(LOCK, 'utf8'), /1\.0\.1/);
  assert.equal(ensureInstalled(), true);
  assert.equal(ensureInstalled(), false);
});

/** Whether a range of versions, as `engines` has it, holds for a version. */
function isIn(range: string, version: readonly number[]): boolean {
  return range.split('||').some((alternative) =>
    [...alternative.matchAll(/(\^|~|>=|>|<=|<)?\s*v?(\d+(?:\.\d+)*)/g)].every(
      ([, operator = '', text = '']) => {
        const bound = text.split('.').map(Number);
        const difference = bound
          .map((part, i) => (version[i] ?? 0) - part)
          .find((one) => one !== 0);
        if (operator.startsWith('<')) return (difference ?? 0) < 0;
        if (operator === '') return difference === undefined;
        return (difference ?? 0) >= 0 && (operator !== '^' || bound[0] === version[0]);
      },
    ),
  );
}

test('every package declares support for the oldest promised Node.js', () => {
  const read = (name: string) => JSON.parse(readFileSync(name, 'utf8')) as Record<string, never>;
  const { engines } = read('package.json') as unknown as { engines: { node: string } };
  const oldest = engines.node.replace('>=', '').split('.').map(Number);
  const { packages } = read('package-lock.json') as unknown as {
    packages: Record<string, { readonly engines?: { readonly node?: string } }>;
  };
  const refusing = Object.entries(packages).filter(
    ([, one]) => one.engines?.node !== undefined && !isIn(one.engines.node, oldest),
  );
  assert.deepEqual(
    refusing.map(([name]) => name),
    [],
  );
  assert.equal(isIn('^20.19.0 || >=22.12', oldest), true);
  assert.equal(isIn('>=22.12', oldest), false);
});

/** What is said of a port before the command runs; "" if it is free. */
async function saidOf(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const script = pathToFileURL(path.resolve('scripts/free-port.mjs')).href;
  const call = `ensurePortIsFree(${JSON.stringify(args)}, ${JSON.stringify(env)})`;
  const code = `import { ensurePortIsFree } from '${script}'; await ${call};`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said] = await Promise.all([text(child.stderr), once(child, 'close')]);
  assert.equal(child.exitCode, said === '' ? 0 : 2);
  return said;
}

test('the port of the daemon is checked before the build', async (t) => {
  let isTrawl = false;
  const server = createServer((_, response) =>
    response.end(isTrawl ? '{"version":"v0.1.0"}' : 'hello'),
  );
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const next = `such as --port ${port + 1}`;
  const said = await saidOf(['serve', '.', '--port', String(port)]);
  assert.ok(said.includes(`port ${port} of 127.0.0.1 is in use by another program`), said);
  assert.ok(said.includes(next), said);
  isTrawl = true;
  assert.match(await saidOf(['serve'], { TRAWL_PORT: String(port) }), /in use by another Trawl/);
  assert.equal(await saidOf(['search', '--port', String(port)]), '');
  server.close();
  await once(server, 'close');
  assert.equal(await saidOf(['serve', `--port=${port}`]), '');
});
