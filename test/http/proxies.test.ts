// The files for proxies in daemon/deploy/, each with the real program in front of a server: TLS, a path below the site, streams
// that are not buffered, the address of the client, and health checks by HTTP/1.0.
// tier: ci (Debian's packages nginx-light, haproxy, caddy; openssl)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import path from 'node:path';
import { after, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { Running } from '../e2e/daemon.ts';
import { freePort } from '../hosts/mirrors/git-server.ts';
import { makeCertificates } from '../hosts/servers.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { chunkEvent, FINAL_EVENT, resultOf } from './answers.ts';
import { closeWorlds, eventually, gate, startWorld, type World } from './harness.ts';

after(closeWorlds);

/** Not that of the proxy, and of this machine. */
const CLIENT = '127.0.0.2';
const env = { PATH: `${process.env['PATH']}:/usr/sbin`, HOME: temporaryFolder() };

interface Site {
  readonly folder: string;
  readonly port: number;
  readonly upstream: number;
  /** Of certificate and key together. */
  readonly pem: string;
}

interface Proxy {
  readonly name: string;
  readonly file: string;
  readonly version: readonly string[];
  /** Words of the file, and what stands for them here. */
  readonly changes: (site: Site) => readonly (readonly [string, string])[];
  /** The command that runs it with the changed file. */
  readonly command: (site: Site, file: string) => readonly string[];
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    version: ['nginx', '-v'],
    changes: ({ port, pem }) => [
      ['listen 443', `listen 127.0.0.1:${port}`],
      ['/etc/ssl/certs/example.com.pem', pem],
      ['/etc/ssl/private/example.com.key', pem],
    ],
    command({ folder }, file) {
      const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const temporary = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');
      const all = path.join(folder, 'all.conf');
      const http = `http { access_log off; ${temporary} include ${file}; }`;
      writeFileSync(all, `daemon off; master_process off; pid ${folder}/pid; events {} ${http}`);
      return ['nginx', '-e', 'stderr', '-p', folder, '-c', all];
    },
  },
  {
    name: 'Caddy',
    file: 'Caddyfile',
    version: ['caddy', 'version'],
    changes: ({ port, pem }) => [
      [
        'example.com {',
        `{\nadmin off\nauto_https disable_redirects\n}\nhttps://localhost:${port} {\nbind 127.0.0.1\ntls ${pem} ${pem}`,
      ],
    ],
    command: (_, file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  },
  {
    name: 'HAProxy',
    file: 'haproxy.cfg',
    version: ['haproxy', '-v'],
    changes: ({ port, pem }) => [
      ['bind :443', `bind 127.0.0.1:${port}`],
      ['/etc/haproxy/example.com.pem', pem],
    ],
    command: (_, file) => ['haproxy', '-db', '-f', file],
  },
];

function ask(port: number, target: string, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        localAddress: CLIENT,
        port,
        path: target,
        method: body === undefined ? 'GET' : 'POST',
        servername: 'localhost',
        headers: { host: `localhost:${port}`, 'x-forwarded-for': '10.1.2.3' },
        rejectUnauthorized: false,
        agent: false,
      },
      resolve,
    );
    call.on('error', reject);
    call.end(body);
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', (hadError) => resolve(!hadError));
  });
}

async function startSite(
  proxy: Proxy,
  certificates: { readonly cert: string; readonly key: string },
) {
  const folder = temporaryFolder();
  const port = await freePort();
  const second = gate();
  const world = await startWorld({
    kind: 'node',
    env: { TRAWL_BASE_URL: `https://localhost:${port}/code`, TRAWL_ANONYMOUS_ACCESS: 'true' },
    settings: { trustedProxies: ['127.0.0.1'] },
    stream() {
      const events = [chunkEvent([resultOf('plum')]), FINAL_EVENT];
      return {
        async next() {
          if (events.length === 1) await second.opened;
          const event = events.shift();
          return event && { json: Buffer.from(JSON.stringify(event)) };
        },
        close: () => {},
      };
    },
  });
  const pem = path.join(folder, 'site.pem');
  writeFileSync(pem, certificates.cert + certificates.key);
  const site = { folder, port, upstream: world.server.address.port, pem };
  let config = readFileSync(path.join('daemon/deploy', proxy.file), 'utf8');
  const upstream = ['127.0.0.1:3000', `127.0.0.1:${site.upstream}`] as const;
  for (const [word, here] of [upstream, ...proxy.changes(site)]) {
    assert.ok(config.includes(word), word);
    config = config.replace(word, here);
  }
  const file = path.join(folder, proxy.file);
  writeFileSync(file, config);
  const [program = '', ...args] = proxy.command(site, file);
  const running = new Running(program, args, { env });
  while (!(await answers(port))) assert.ok(!running.isOver, running.stderr);
  return { world, port, second, running };
}

function requestsOf({ lines }: World, route: string) {
  return lines.filter((line) => line['message'] === 'request' && line['route'] === route);
}

for (const proxy of PROXIES) {
  const {
    name,
    version: [program = '', ...args],
  } = proxy;
  const isThere = spawnSync(program, args, { env }).status === 0;
  test(`behind ${name}`, { skip: isThere ? false : `${name} is not installed` }, async (t) => {
    const { world, port, second, running } = await startSite(proxy, makeCertificates(t));
    const page = await text(await ask(port, '/code/'));
    const [asset = ''] = /\/code\/assets\/[^"]+\.js/.exec(page) ?? [page];
    assert.equal((await ask(port, asset)).statusCode, 200, asset);
    assert.equal((await ask(port, '/code/api/ready')).statusCode, 200);
    assert.equal(
      (await ask(port, '/.well-known/oauth-protected-resource/code/api/mcp')).headers[
        'x-content-type-options'
      ],
      'nosniff',
    );
    assert.notEqual((await ask(port, '/codes')).headers['x-content-type-options'], 'nosniff');
    const stream = await ask(port, '/code/api/stream_search', '{"query":"plum","matches":1}');
    const parts: string[] = [];
    stream.on('data', (data: Buffer) => parts.push(data.toString()));
    await eventually(() => parts.join('').includes('plum'));
    assert.doesNotMatch(parts.join(''), /isSearchExhaustive/);
    second.open();
    await eventually(() => parts.join('').includes('isSearchExhaustive'));
    await eventually(() => requestsOf(world, '/code/api/stream_search').length > 0);
    const addresses = world.lines.filter(
      ({ address }) => address !== undefined && address !== '127.0.0.1',
    );
    assert.deepEqual([...new Set(addresses.map(({ address }) => address))], [CLIENT]);
    if (name === 'HAProxy') {
      // Its own checks.
      await eventually(() =>
        requestsOf(world, '/code/api/ready').some(({ address }) => address === '127.0.0.1'),
      );
      assert.doesNotMatch(running.stderr, / is DOWN/);
    }
    await running.stop('SIGKILL');
  });
}

test('a health check by HTTP/1.0 without a Host header', async () => {
  const { server } = await startWorld({
    kind: 'node',
    env: { TRAWL_BASE_URL: 'https://x.example/code' },
  });
  const socket = connect(server.address.port, '127.0.0.1');
  socket.write('GET /code/api/ready HTTP/1.0\r\n\r\n');
  assert.match(await text(socket), /^HTTP\/1\.1 200 /);
});
