// The tool server of a real daemon with independent clients: the official inspector, over HTTP and over pipes; the
// conformance suite of the protocol; and a client without code of the official SDK.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import test, { before } from 'node:test';
import { createMCPClient } from '@ai-sdk/mcp';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { MAIN, Running, type Served, serveIndexed } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const BEARER = `Bearer ${KEY}`;

let served: Served;
let source: string;

before(async () => {
  source = makeRepo({ 'plum.c': 'int plum_count;\n' });
  served = await serveIndexed(path.join(temporaryFolder(), 'data'), [source], {
    env: { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY },
  });
});

const { resolve } = createRequire(import.meta.url);
const INSPECTOR = path.join(
  resolve('@modelcontextprotocol/inspector-cli/package.json'),
  '../build',
);
const CONFORMANCE = path.join(resolve('@modelcontextprotocol/conformance/package.json'), '../dist');

/** What the program in a folder writes. Why there: the inspector looks for its own description beside where it is run. */
async function run(cwd: string, args: readonly string[]): Promise<string> {
  const running = new Running(process.execPath, ['index.js', ...args], { cwd });
  const { code, stdout, stderr } = await running.ended;
  assert.equal(code, 0, `${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

const CALL = ['--method', 'tools/call', '--tool-name', 'grep', '--tool-arg', 'pattern=plum_count'];

function textIn(stdout: string): string {
  const { content } = JSON.parse(stdout) as { readonly content: readonly { text: string }[] };
  return content[0]?.text ?? '';
}

/** Whether the index has it, or files were looked through. */
const FOUND =
  /^Found 1 matches in 1 files\n\[[^\]]+\] plum\.c:\n  1: int plum_count;(?:$|\n\(not all is indexed yet)/;

test('the inspector lists tools and calls one, over HTTP and over pipes', async () => {
  const over = ['--transport', 'http', '--header', `Authorization: ${BEARER}`];
  const address = `${served.url}/api/mcp`;
  const listed = await run(INSPECTOR, [address, ...over, '--method', 'tools/list']);
  const { tools } = JSON.parse(listed) as { readonly tools: readonly { name: string }[] };
  assert.equal(tools.length, 10);
  assert.match(textIn(await run(INSPECTOR, [address, ...over, ...CALL])), FOUND);
  const dataDir = path.join(temporaryFolder(), 'data');
  const [program, args] = [
    [process.execPath, MAIN, 'mcp'],
    ['--data-dir', dataDir, source],
  ];
  assert.match(textIn(await run(INSPECTOR, [...program, ...CALL, '--', ...args])), FOUND);
});

/**
 * What a server with tools alone has to do. The other scenarios ask for resources, prompts, completions, sampling and questions
 * to users, which we do not offer, or call tools of the suite's own server by name.
 */
const SCENARIOS = [
  'server-initialize',
  'tools-call-error',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

test('the conformance suite', async () => {
  const open = await serveIndexed(path.join(temporaryFolder(), 'data'), [source], {
    flags: ['--anonymous'],
  });
  for (const scenario of SCENARIOS) {
    const args = ['server', '--url', `${open.url}/api/mcp`, '--scenario', scenario];
    assert.match(await run(CONFORMANCE, args), /Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/);
  }
  await open.process.stop();
});

test('a client independent of the official SDK', async () => {
  const headers = { authorization: BEARER };
  const transport = { type: 'http', url: `${served.url}/api/mcp`, headers } as const;
  await assert.rejects(createMCPClient({ transport: { ...transport, headers: {} } }), /401/);
  const client = await createMCPClient({ transport });
  const { grep, read_file: readFile, ...others } = await client.tools();
  assert.equal(Object.keys(others).length, 8);
  const options = { toolCallId: '1', messages: [] };
  const found = await grep?.execute({ pattern: 'plum_count' }, options);
  assert.match(textIn(JSON.stringify(found)), FOUND);
  const failed = await readFile?.execute({ repo: 'nowhere', path: 'x' }, options);
  assert.match(textIn(JSON.stringify(failed)), /^Tool "read_file" failed: /);
  await client.close();
});
