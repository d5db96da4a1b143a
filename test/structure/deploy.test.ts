// The files for operators in daemon/deploy/ name what exists, and give a container no more rights than it needs.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { VARIABLES, type Variable } from '../../daemon/base/config/variables.ts';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { parseConfiguration } from '../../daemon/base/config/file.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

/** Variables that the daemon reads; secrets only as names of files. */
const NAMES: readonly string[] = Object.values<Variable>(VARIABLES).map(({ name, isSecret }) =>
  isSecret === true ? `${name}_FILE` : name,
);

function assertVariables(names: readonly string[]): void {
  const ours = names.filter((name) => name.startsWith('TRAWL_'));
  assert.ok(ours.length > 0);
  assert.deepEqual(
    ours.filter((name) => !NAMES.includes(name)),
    [],
  );
}

function assertPaths(paths: readonly string[]): void {
  assert.ok(paths.length > 0);
  const served = ENDPOINTS.map(({ path }) => path);
  for (const path of paths) assert.ok(served.includes(path), path);
}

const CONTAINERFILE = 'daemon/deploy/Containerfile';
/** The account of the image; the volume is writable for it. */
const ACCOUNT = 10_001;

void test('the image: the last stage is empty but for the files chosen, and runs as an account without rights', () => {
  const text = readFileSync(CONTAINERFILE, 'utf8').replaceAll(/\\\n\s*/g, ' ');
  const lines = text.split('\n').filter((line) => /^[A-Z]+ /.test(line));
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const of = (word: string): readonly string[] =>
    last.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  assert.deepEqual([of('FROM'), of('COPY')], [['scratch'], ['--from=build /image /']]);
  assert.deepEqual(of('USER'), [`${ACCOUNT}:${ACCOUNT}`]);
  assert.deepEqual([of('RUN'), of('ADD')], [[], []]);
  assert.match(text, new RegExp(`chown ${ACCOUNT}:${ACCOUNT} var/lib/trawl`));
  assertVariables(
    [
      ...of('ENV')
        .join(' ')
        .matchAll(/(\w+)=/g),
    ].map(([, name = '']) => name),
  );
  assert.deepEqual([of('ENTRYPOINT'), of('CMD')], [['["tini", "--", "trawl"]'], ['["serve"]']]);
  const [, shown = ''] = /ENV (.*)/.exec(text) ?? [];
  const data = /TRAWL_DATA_DIR=(\S+)/.exec(shown)?.[1] ?? '';
  // Below the volume, so that the daemon creates it for itself alone.
  assert.ok(data.startsWith(`${of('VOLUME')[0]}/`), data);
});

void test('the image: the health check asks below the path of the base URL', async () => {
  const [, command = ''] = /^HEALTHCHECK .*\\\n +CMD (.*)$/m.exec(
    readFileSync(CONTAINERFILE, 'utf8'),
  )!;
  const [, , script = ''] = JSON.parse(command) as string[];
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(asked.length > 3 ? 503 : 200).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const check = async (TRAWL_BASE_URL: string): Promise<unknown> => {
    const args = ['-e', script.replace(':3000', `:${port}`)];
    const child = spawn(process.execPath, args, { env: { TRAWL_BASE_URL } });
    return (await once(child, 'exit'))[0];
  };
  for (const url of ['', 'https://a.example.com', 'https://a.example.com/code/'])
    assert.equal(await check(url), 0);
  assert.equal(await check('https://a.example.com/code'), 1);
  server.close();
  assert.deepEqual(asked, ['/api/health', '/api/health', '/code/api/health', '/code/api/health']);
});

interface ComposeService {
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly volumes: readonly string[];
  readonly networks: readonly string[];
  readonly healthcheck?: { readonly test: readonly unknown[] };
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<'trawl' | 'postgres', ComposeService>>;
  readonly networks: object;
  readonly volumes: object;
  readonly secrets: object;
}

void test('compose: variables, secrets, volumes and networks exist; secrets are files; both are read-only', () => {
  const file = parse(readFileSync('daemon/deploy/compose.yaml', 'utf8')) as Compose;
  const { trawl, postgres } = file.services;
  assertVariables(Object.keys(trawl.environment));
  for (const { environment, secrets, volumes, networks, healthcheck, ...rest } of [
    trawl,
    postgres,
  ]) {
    assert.deepEqual([rest.read_only, rest.cap_drop], [true, ['ALL']]);
    const named = Object.values(environment).filter((value) => value.startsWith('/run/secrets/'));
    assert.deepEqual(named.map((value) => path.basename(value)).sort(), [...secrets].sort());
    assert.doesNotMatch(JSON.stringify(environment), /postgres:\/\//);
    for (const secret of secrets) assert.ok(secret in file.secrets, secret);
    for (const network of networks) assert.ok(network in file.networks, network);
    const inside = volumes.map((volume) => volume.split(':')[0]!).filter((name) => name[0] !== '.');
    for (const volume of inside) assert.ok(volume in file.volumes, volume);
    // A text with a colon may be an object to YAML.
    assert.ok((healthcheck?.test ?? []).every((word) => typeof word === 'string'));
  }
});

const CHART = 'daemon/deploy/helm';

void test('chart: the templates use values that exist, and the version is that of the program', () => {
  const values: unknown = parse(readFileSync(`${CHART}/values.yaml`, 'utf8'));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const chart = parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8')) as Record<string, unknown>;
  assert.equal(chart['appVersion'], version);
  const templates = readdirSync(`${CHART}/templates`).map((name) =>
    readFileSync(`${CHART}/templates/${name}`, 'utf8'),
  );
  const used = [...templates.join('').matchAll(/\.Values((?:\.\w+)+)/g)].map(
    ([, keys = '']) => keys,
  );
  assert.ok(used.length > 20);
  for (const keys of new Set(used)) {
    let value = values;
    for (const key of keys.slice(1).split('.')) value = (value as Record<string, unknown>)[key];
    assert.notEqual(value, undefined, keys);
  }
});

/** Of what a chart makes, what is checked. */
interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly automountServiceAccountToken: boolean;
        readonly securityContext: object;
        readonly containers: readonly [
          {
            readonly args: readonly string[];
            readonly env: readonly { readonly name: string; readonly value: string }[];
            readonly securityContext: object;
            readonly volumeMounts: readonly { readonly name: string }[];
          },
        ];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  };
}

const HELM_MISSING =
  spawnSync('helm', ['version', '--short']).status === 0 ? false : 'helm is not installed';

function render(values: object): readonly Manifest[] {
  const file = path.join(temporaryFolder(), 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const { stdout, stderr, status } = spawnSync(
    'helm',
    ['template', 'name', CHART, '--values', file],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

const FULL = {
  baseUrl: 'https://example.com/code/',
  config: {
    settings: { maxMatchCount: 9 },
    connections: { a: { type: 'git', url: 'file:///srv' } },
  },
  secret: { name: 'trawl', variables: ['TRAWL_SECRET', 'TRAWL_DATABASE_URL'] },
  env: { TRAWL_OWNER_EMAIL: 'me@example.com' },
  metricsPort: 9464,
  extraVolumes: [{ name: 'repos', hostPath: { path: '/srv' } }],
  extraVolumeMounts: [{ name: 'repos', mountPath: '/srv', readOnly: true }],
  extraArgs: ['/srv'],
};

void test(
  'chart: one replica without rights, with a configuration that the daemon takes',
  { skip: HELM_MISSING },
  () => {
    for (const values of [{}, FULL]) {
      const manifests = render(values);
      const of = (kind: string): Manifest => manifests.find((one) => one.kind === kind)!;
      assert.deepEqual(manifests.map(({ kind }) => kind).sort(), [
        'ConfigMap',
        'Service',
        'StatefulSet',
      ]);
      const { replicas, template, volumeClaimTemplates } = of('StatefulSet').spec;
      const { securityContext, containers, volumes, automountServiceAccountToken } = template.spec;
      const [{ env, args, volumeMounts, ...container }] = containers;
      assert.deepEqual([replicas, automountServiceAccountToken], [1, false]);
      assert.deepEqual(securityContext, {
        runAsNonRoot: true,
        runAsUser: ACCOUNT,
        runAsGroup: ACCOUNT,
        fsGroup: ACCOUNT,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      });
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assertVariables(env.map(({ name }) => name));
      const asked = [...JSON.stringify(container).matchAll(/"([^"]*)(\/api\/\w+)"/g)];
      assertPaths(asked.map(([, , found = '']) => found));
      for (const [, below] of asked) assert.equal(below, values === FULL ? '/code' : '');
      const mounted = [...volumes, ...volumeClaimTemplates.map(({ metadata }) => metadata)];
      assert.deepEqual(
        volumeMounts.map(({ name }) => name).sort(),
        mounted.map(({ name }) => name).sort(),
      );
      const { settings } = parseConfiguration(
        'trawl.json',
        of('ConfigMap').data?.['trawl.json'] ?? '',
      );
      assert.equal(settings['maxMatchCount'], values === FULL ? 9 : undefined);
      assert.deepEqual(args, values === FULL ? ['serve', '/srv'] : ['serve']);
    }
  },
);

void test('systemd: a start that fails at once, as without PostgreSQL, is repeated until it succeeds', () => {
  const text = readFileSync('daemon/deploy/trawl.service', 'utf8');
  // By default systemd gives up after 5 starts in 10 s.
  assert.ok(4 * Number(/^RestartSec=(\d+)$/m.exec(text)?.[1]) > 10, text);
});
