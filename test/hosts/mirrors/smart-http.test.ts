// Damaged and hostile answers of hosts: an error, or all the refs that they name; never some of them.
// tier: ci (long)

import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { HostError } from '../../../daemon/hosts/host.ts';
import type { Fetch } from '../../../daemon/hosts/transport.ts';
import { remoteAddress } from '../../../daemon/hosts/remote-address.ts';
import { digestOf, parseListed } from '../../../daemon/hosts/mirrors/remote-refs.ts';
import { listOverHttp, type HttpRemote } from '../../../daemon/hosts/mirrors/smart-http.ts';
import { SEED } from '../../seed.ts';
import { git, makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { GitServer } from './git-server.ts';

/** Of requested repositories. */
let requestCount = 0;

interface Recorded {
  readonly type: string;
  readonly bytes: Buffer;
}

let recorded: Readonly<Record<'new' | 'old', readonly Recorded[]>>;
let listed: string;

function listFrom(answers: readonly Recorded[]): Promise<HttpRemote> {
  let count = 0;
  const fetch: Fetch = (url) => {
    const { type, bytes } = answers[count++] ?? { type: 'text/html', bytes: Buffer.alloc(0) };
    const response = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } });
    return Promise.resolve(
      Object.defineProperty(response, 'url', {
        value: url instanceof Request ? url.url : url.toString(),
      }),
    );
  };
  const { signal } = new AbortController();
  const address = remoteAddress(`http://127.0.0.1:1/${++requestCount}.git`);
  return listOverHttp({ address, credential: undefined, fetch, signal });
}

/** The error, or the refs. */
async function outcomeOf(answers: readonly Recorded[]): Promise<string> {
  try {
    return digestOf((await listFrom(answers)).refs);
  } catch (error) {
    assert.ok(error instanceof HostError, String(error));
    assert.equal(error.code, 'HOST_ANSWER_INVALID');
    return 'refused';
  }
}

test('a repository listed before needs one request', async (t) => {
  const root = temporaryFolder();
  const tree = makeRepo({ 'a.txt': 'plum\n' });
  git(root, 'clone', '-q', '--bare', tree, path.join(root, 'one.git'));
  const server = await GitServer.start(t, { root });
  const address = remoteAddress(`${server.url}/one.git`);
  const listServer = async (): Promise<[remote: HttpRemote, methods: string]> => {
    const { signal } = new AbortController();
    const before = server.requests.length;
    const remote = await listOverHttp({ address, credential: undefined, fetch, signal });
    const methods = server.requests.slice(before).map(({ method }) => method);
    return [remote, methods.join(' ')];
  };
  const [first, inFull] = await listServer();
  assert.equal(inFull, 'GET POST');
  git(path.join(root, 'one.git'), 'branch', 'other', 'main');
  const [again, atOnce] = await listServer();
  assert.equal(atOnce, 'POST');
  assert.equal(again.url, first.url);
  assert.deepEqual(
    again.refs.lines.map((line) => line.split(' ')[0]),
    ['refs/heads/main', 'refs/heads/other'],
  );

  // A web page, or a host that went back to the first version.
  server.answer = (request, response) => {
    if (request.method === 'POST') response.end('<html>');
    return request.method === 'POST';
  };
  await assert.rejects(listServer(), HostError);
  server.answer = undefined;
  server.isOld = true;
  assert.equal((await listServer())[1], 'GET');
  server.isOld = false;
  assert.equal((await listServer())[1], 'GET POST');

  // It has moved, and is requested at its old address as long as that redirects.
  git(root, 'clone', '-q', '--bare', 'one.git', 'two.git');
  server.redirect = (requested) =>
    requested.startsWith('/one.git') ? requested.replace('one', 'two') : undefined;
  for (let i = 0; i < 2; i++) assert.equal((await listServer())[0].url, `${server.url}/two.git`);
  server.redirect = undefined;
  assert.equal((await listServer())[0].url, first.url);
  assert.equal((await listServer())[1], 'POST');
});

describe('answers of a real git', () => {
  before(async () => {
    const root = temporaryFolder();
    const tree = makeRepo({ 'a.txt': 'plum\n' });
    git(tree, 'tag', '-a', '-m', 'x', 'v1');
    git(root, 'clone', '-q', '--bare', tree, path.join(root, 'one.git'));
    for (let i = 0; i < 5; i++) git(path.join(root, 'one.git'), 'branch', `b${i}`, 'main');
    listed = git(root, 'ls-remote', '--symref', path.join(root, 'one.git'));
    const server = await GitServer.start({ after: () => {} }, { root });
    const record = async (isOld: boolean): Promise<Recorded[]> => {
      server.isOld = isOld;
      const answers: Recorded[] = [];
      const address = remoteAddress(`${server.url}/one.git`);
      const recording: Fetch = async (url, init) => {
        const response = await fetch(url, init);
        const bytes = Buffer.from(await response.clone().arrayBuffer());
        answers.push({ type: response.headers.get('content-type') ?? '', bytes });
        return response;
      };
      const { signal } = new AbortController();
      await listOverHttp({ address, credential: undefined, fetch: recording, signal });
      return answers;
    };
    // The old one first: of a host that speaks version 2 that is remembered.
    recorded = { old: await record(true), new: await record(false) };
    await server.close();
  });

  for (const kind of ['new', 'old'] as const) {
    test(`${kind}: equals git ls-remote`, async () => {
      const answers = recorded[kind];
      assert.equal(answers.length, kind === 'new' ? 2 : 1);
      const { refs } = await listFrom(answers);
      const expected = parseListed(listed);
      assert.equal(digestOf(refs), digestOf(expected));
      assert.equal(refs.defaultBranch, expected.defaultBranch);
      assert.equal(refs.lines.length, 7);
    });

    test(`${kind}: any truncated answer is refused`, async () => {
      const answers = recorded[kind];
      for (let i = 0; i < answers.length; i++)
        for (let size = 0; size < answers[i]!.bytes.length; size++) {
          const cut = { ...answers[i]!, bytes: answers[i]!.bytes.subarray(0, size) };
          const reported = await outcomeOf([...answers.slice(0, i), cut, ...answers.slice(i + 1)]);
          assert.equal(reported, 'refused', `${i} ${size}`);
        }
    });

    test(`${kind}: changed bytes are refused, or give other refs`, async () => {
      const change = fc.record({ answer: fc.nat(1), offset: fc.nat(2000), byte: fc.nat(255) });
      const property = fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 4 }),
        async (changes) => {
          const answers = recorded[kind].map(({ type, bytes }) => ({
            type,
            bytes: Buffer.from(bytes),
          }));
          for (const { answer, offset, byte } of changes) {
            const { bytes } = answers[answer % answers.length]!;
            bytes[offset % bytes.length] = byte;
          }
          await outcomeOf(answers);
        },
      );
      await fc.assert(property, { seed: SEED, numRuns: 500 });
    });
  }
});
