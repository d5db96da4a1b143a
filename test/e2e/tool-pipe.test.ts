// `trawl mcp`: the official client over standard input and output, on a folder without an index. The first use
// indexes it, changes are noticed, a second process reads what the first one writes and takes over from it.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { callTool } from '../api/mcp/tool-client.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { eventually, MAIN, startTrawl } from './daemon.ts';

async function connect(cwd: string, ...args: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const command = process.execPath;
  const transport = new StdioClientTransport({ command, args: [MAIN, 'mcp', ...args], cwd });
  await client.connect(transport);
  return client;
}

async function found(client: Client, pattern: string): Promise<boolean> {
  const { text, isError } = await callTool(client, 'grep', { pattern });
  assert.equal(isError, false, text);
  return text.startsWith('Found ');
}

void test('the current folder is indexed at the first use, and watched', async () => {
  const repo = makeRepo({ 'src/a.c': 'int plum;\n', '.gitignore': 'build\n' });
  const client = await connect(repo);
  assert.equal(client.getServerVersion()?.name, 'trawl-mcp-server');
  await client.ping();
  assert.equal(await found(client, 'plum'), true);
  const { text } = await callTool(client, 'list_repos');
  const { repos } = JSON.parse(text) as { repos: { name: string }[] };
  const read = await callTool(client, 'read_file', { repo: repos[0]?.name, path: 'src/a.c' });
  assert.match(read.text, /1: int plum;/);
  // No page shows the file.
  assert.doesNotMatch(read.text, /<url>/);
  assert.equal(await found(client, 'pear'), false);
  writeFiles(repo, { 'src/b.c': 'int pear;\n' });
  await eventually(() => found(client, 'pear'), 100);
  await client.close();
  // What it keeps is not of the repository.
  assert.equal(existsSync(path.join(repo, '.trawl')), true);
  assert.equal(git(repo, 'status', '--porcelain'), '?? src/b.c');
});

void test('the first call names a missing source', async () => {
  const folder = temporaryFolder();
  const client = await connect(folder, path.join(folder, 'nowhere'));
  const { text, isError } = await callTool(client, 'grep', { pattern: 'x' });
  assert.equal(isError, true);
  assert.match(text, /^Tool "grep" failed: the index cannot be opened: .*nowhere/);
  await client.close();
});

void test('it ends with its input, with errors on standard error, and nothing else on standard output', async () => {
  const folder = temporaryFolder();
  const input = '{"jsonrpc":"2.0","id":1,"method":"ping"}\nno message\n';
  const running = startTrawl(['mcp', '--data-dir', path.join(folder, 'data')], {
    cwd: folder,
    input,
  });
  const { code, stdout, stderr } = await running.ended;
  assert.equal(code, 0);
  assert.equal(stdout, '{"result":{},"jsonrpc":"2.0","id":1}\n');
  assert.match(stderr, /a message could not be parsed/);
});

void test('calls that wait when the input ends are answered', async () => {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  };
  const messages = [
    { id: 1, method: 'initialize', params },
    { id: 2, method: 'tools/call', params: { name: 'grep', arguments: { pattern: 'plum' } } },
    { id: 3, method: 'tools/call', params: { name: 'list_repos' } },
  ];
  const input = messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join('');
  const cwd = makeRepo({ 'a.c': 'int plum;\n' });
  const { code, stdout } = await startTrawl(['mcp'], { cwd, input }).ended;
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number });
  assert.deepEqual([code, new Set(answers.map(({ id }) => id))], [0, new Set([1, 2, 3])]);
  assert.match(stdout, /1: int plum;/);
});

void test('twelve calls at once, and no warning of listeners', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp'],
    cwd: makeRepo({ 'a.c': 'int plum;\n' }),
    stderr: 'pipe',
  });
  await client.connect(transport);
  const written = text(transport.stderr as Readable);
  await Promise.all(Array.from({ length: 12 }, () => callTool(client, 'list_repos')));
  await client.close();
  assert.doesNotMatch(await written, /Warning/);
});

void test('a batch is answered, a message a line', async () => {
  const pings = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
  const input = `${JSON.stringify(pings)}\n`;
  const { stdout } = await startTrawl(['mcp'], { cwd: makeRepo({ 'a.c': '' }), input }).ended;
  const answers = pings.map(({ id }) => `{"result":{},"jsonrpc":"2.0","id":${id}}\n`);
  assert.equal(stdout, answers.join(''));
});

void test('arguments of megabytes are refused; a message above 10 MB ends it', async () => {
  const client = await connect(makeRepo({ 'a.c': 'int plum;\n' }));
  const large = 'x'.repeat(1 << 20);
  for (const [name, args] of [
    ['grep', { pattern: large }],
    ['grep', { pattern: 'plum', include: large }],
    ['glob', { pattern: large }],
    ['list_tree', { repo: large }],
    [large, {}],
  ] as const) {
    const { text, isError } = await callTool(client, name, args);
    assert.equal(isError, true);
    assert.ok(text.length < 1200, text.slice(0, 1200));
  }
  assert.equal(await found(client, 'plum'), true);
  await assert.rejects(found(client, 'x'.repeat(10 << 20)), /Connection closed/);
});

void test('a whole disk or home folder is not indexed unless it is named', async () => {
  const home = temporaryFolder();
  for (const cwd of ['/', home]) {
    const options = { cwd, env: { HOME: home }, input: '' };
    const { code, stderr } = await startTrawl(['mcp'], options).ended;
    assert.equal(code, 2);
    assert.match(stderr, /is not indexed unless it is named/);
  }
});
