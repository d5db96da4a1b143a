// Variables, flags, settings, secrets: defaults, precedence, refusals, and unrelated variables.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { readConfiguration } from '../../../daemon/base/config/configuration.ts';
import type { Environment, Flags } from '../../../daemon/base/config/configuration.ts';
import { ConfigError } from '../../../daemon/base/config/error.ts';
import { unconfigured } from '../../../daemon/base/config/search-configuration.ts';
import { readSecretSource } from '../../../daemon/base/config/secret-source.ts';
import { openInstanceSecret } from '../../../daemon/base/config/secrets.ts';
import { readSettings } from '../../../daemon/base/config/settings.ts';
import { readProductVersion } from '../../../daemon/base/config/version.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'trawl-config-'));
after(() => rmSync(folder, { recursive: true }));

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const OWNER = { TRAWL_OWNER_EMAIL: 'o@example.com', TRAWL_OWNER_API_KEY: KEY };

function refusal(env: Environment, flags: Flags = {}): ConfigError {
  try {
    readConfiguration({ env, flags, folder });
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: `accepted: ${JSON.stringify({ env, flags })}` });
}

describe('configuration', () => {
  test('without variables and files a search has what the configuration would say', () => {
    const plain = unconfigured(folder, 'warn', { TRAWL_DATA_DIR: folder, PATH: '/bin' });
    const flags = { dataDir: folder, logLevel: 'warn' };
    const { dataDir, log, baseUrl, port, settings } = readConfiguration({ env: {}, flags });
    const { maxMatchCount, searchTimeoutMs } = settings;
    const read = { dataDir, log, baseUrl, port, settings: { maxMatchCount, searchTimeoutMs } };
    assert.deepEqual(plain, read);
    assert.equal(unconfigured(folder, 'warn', { TRAWL_LOG_FORMAT: 'json' }), undefined);
    assert.equal(unconfigured(folder, 'loud', {}), undefined);
    assert.equal(unconfigured(path.join(folder, 'none'), 'warn', {}), undefined);
  });

  test('flags override variables, variables override defaults', () => {
    const env = {
      TRAWL_PORT: '1',
      TRAWL_HOST: '::1',
      TRAWL_BASE_URL: 'https://Code.Example/x//',
      TRAWL_DATA_DIR: '/abs/data',
      TRAWL_ANONYMOUS_ACCESS: 'false',
      TRAWL_WORKERS: '3',
      TRAWL_HTTP: 'uws',
      TRAWL_LOG_LEVEL: 'warn',
      TRAWL_LOG_FORMAT: 'json',
      TRAWL_LOG_FILE: 'logs/t.log',
      TRAWL_GIT_PATHS: '/srv/git:/srv/lib',
    };
    const flags = { port: 2, anonymous: undefined, anonymousAccess: true, logLevel: 'debug' };
    const read = readConfiguration({ env, flags, folder });
    assert.equal(read.port, 2);
    assert.equal(read.host, '::1');
    assert.equal(read.baseUrl, 'https://code.example/x');
    assert.equal(read.dataDir, '/abs/data');
    assert.deepEqual(read.gitPaths, ['/srv/git', '/srv/lib']);
    assert.equal(read.anonymousAccess, true);
    assert.equal(read.workerCount, 3);
    assert.equal(read.http, 'uws');
    const file = path.join(folder, 'logs/t.log');
    assert.deepEqual(read.log, { level: 'debug', format: 'json', file });
  });

  test('a bad value is refused with its name, value and what is allowed', () => {
    const cases: [string, string][] = [
      ...['-1', '65536', '3e3', ' 80', 'http'].map((v): [string, string] => ['TRAWL_PORT', v]),
      ['TRAWL_HOST', 'a b'],
      ['TRAWL_HOST', '[localhost]'],
      ...['localhost:3000', 'ftp://x', 'http://x/?q', 'http://x/#f', 'http://u:p@x', 'x'].map(
        (v): [string, string] => ['TRAWL_BASE_URL', v],
      ),
      ['TRAWL_ANONYMOUS_ACCESS', 'yes'],
      ['TRAWL_ANONYMOUS_ACCESS', 'True'],
      ['TRAWL_WORKERS', '0'],
      ['TRAWL_HTTP', 'h3'],
      ['TRAWL_LOG_LEVEL', 'trace'],
      ['TRAWL_LOG_FORMAT', 'xml'],
      ['TRAWL_OWNER_EMAIL', 'nobody'],
    ];
    for (const [name, value] of cases) {
      const error = refusal({ [name]: value });
      assert.equal(error.variable, name);
      assert.equal(error.exitCode, 2);
      assert.ok(error.message.startsWith(`${name}: ${JSON.stringify(value)}; allowed: `));
    }
    assert.match(refusal({}, { workers: 'x' }).message, /^--workers: "x"; allowed: 1 to 1024$/);
  });

  test('unknown TRAWL_ variables are reported, other variables are ignored', () => {
    const env = { TRAWL_PROT: '1', TRAWL_URL: 'http://x', TRAWL_SECRET_FILE: '', PATH: '/bin' };
    const { notices } = readConfiguration({ env, folder });
    assert.deepEqual(notices, ['TRAWL_PROT is not a variable of this version and has no effect']);
  });

  test('the owner key: form, owner, and only its hash is kept', () => {
    const wrong = [
      KEY.slice(1),
      KEY.toUpperCase(),
      `${KEY}0`,
      KEY.slice(0, -1),
      `svst${KEY.slice(3)}`,
    ];
    for (const value of wrong) {
      const env: Environment = { ...OWNER, TRAWL_OWNER_API_KEY: value };
      const error = refusal(env);
      assert.equal(error.variable, 'TRAWL_OWNER_API_KEY');
      assert.ok(!error.message.includes(value.slice(8)), error.message);
      assert.match(error.message, /svk_ and 64 lower-case hex digits/);
      assert.equal(env['TRAWL_OWNER_API_KEY'], undefined);
    }
    const alone = refusal({ TRAWL_OWNER_API_KEY: KEY });
    assert.match(alone.message, /^TRAWL_OWNER_API_KEY: .*TRAWL_OWNER_EMAIL/);

    const env: Environment = { ...OWNER, TRAWL_SECRET: 'x'.repeat(32) };
    const configuration = readConfiguration({ env, folder });
    assert.deepEqual(env, { TRAWL_OWNER_EMAIL: 'o@example.com' });
    assert.ok(!inspect(configuration, { depth: null }).includes(KEY));
    assert.ok(!JSON.stringify(configuration).includes(KEY));
    assert.equal(configuration.owner?.apiKey?.reveal(), KEY);
  });

  test('secrets may come from files; a missing file and a short secret are refused', () => {
    const file = path.join(folder, 'key');
    writeFileSync(file, `${KEY}\n`);
    const env: Environment = {
      TRAWL_OWNER_EMAIL: 'o@example.com',
      TRAWL_OWNER_API_KEY_FILE: file,
      TRAWL_SECRET: 'x'.repeat(32),
    };
    assert.equal(readConfiguration({ env, folder }).owner?.apiKey?.reveal(), KEY);
    assert.equal(env['TRAWL_OWNER_API_KEY_FILE'], undefined);
    const missing = refusal({ TRAWL_SECRET_FILE: path.join(folder, 'none') });
    assert.match(missing.message, /^TRAWL_SECRET_FILE: .*ENOENT/);
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const other of [pipe, folder])
      assert.match(
        refusal({ TRAWL_SECRET_FILE: other }).message,
        /"; no file; allowed: a readable/,
      );
    assert.match(
      refusal({ TRAWL_DATA_DIR: file }).message,
      /^TRAWL_DATA_DIR: .*key"; allowed: a fol/,
    );
    assert.match(refusal({ TRAWL_LOG_FILE: folder }).message, /^TRAWL_LOG_FILE: .* no folder is$/);
    const short = refusal({ TRAWL_SECRET: 'hush'.repeat(7) });
    assert.match(short.message, /^TRAWL_SECRET: \(hidden\); allowed: at least 32 bytes$/);
  });

  test('a variable that is not set has no secret, whatever its name', () => {
    for (const env of ['TOKEN', 'constructor', 'toString', '__proto__'])
      assert.throws(() => readSecretSource({ env }, {}), {
        name: 'ConfigError',
        message: `${env}: no secret; set the variable`,
      });
  });

  test('without TRAWL_SECRET a secret is created in the data directory and reused', () => {
    const dataDir = path.join(folder, 'deep', 'data');
    const first = openInstanceSecret(dataDir);
    const file = path.join(dataDir, 'secret');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
    assert.match(readFileSync(file, 'utf8'), /^[0-9a-f]{64}\n$/);
    assert.deepEqual(openInstanceSecret(dataDir), first);
    writeFileSync(file, 'short');
    assert.throws(() => openInstanceSecret(dataDir), /too short: .* restore it, or remove it/);
    writeFileSync(file, Buffer.alloc(65));
    assert.throws(() => openInstanceSecret(dataDir), /damaged: \S+ has zero bytes; restore it/);
    // As a crash left it in earlier versions; and what one leaves now, a file under another name.
    writeFileSync(file, '');
    writeFileSync(`${file}.new`, 'cut o');
    const next = openInstanceSecret(dataDir);
    assert.match(next.toString(), /^[0-9a-f]{64}$/);
    assert.notDeepEqual(next, first);
    assert.deepEqual(openInstanceSecret(dataDir), next);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(dataDir), ['secret']);
  });
});

describe('settings', () => {
  test('defaults, overrides, refusals', () => {
    assert.deepEqual(readSettings({ maxMatchCount: 5, alwaysIndexFilePatterns: ['*.min.js'] }), {
      maxFileSize: 4194304,
      maxTrigramCount: 0,
      maxRepoIndexingJobConcurrency: 8,
      repoIndexTimeoutMs: 7200000,
      reindexIntervalMs: 3600000,
      resyncConnectionIntervalMs: 86400000,
      maxConnectionSyncJobConcurrency: 8,
      maxRepoGarbageCollectionJobConcurrency: 8,
      repoGarbageCollectionGracePeriodMs: 10000,
      permissionSyncIntervalMs: 21600000,
      permissionSyncMaxAgeMs: 86400000,
      alwaysIndexFilePatterns: ['*.min.js'],
      maxMatchCount: 5,
      searchTimeoutMs: 30000,
      slowSearchMs: 0,
      maxConcurrentSearches: 2 * availableParallelism(),
      maxQueuedSearches: 64,
      maxSourceBytes: 67108864,
      maxRequestBodyBytes: 1048576,
      gitTimeoutMs: 30000,
      memory: 536870912,
      storeGraceMs: 60000,
      auditRetentionDays: 180,
      apiKeyHeaderAliases: [],
      trustedProxies: [],
      rateLimit: { requestsPerDay: 10000, contact: 'an owner of this instance' },
      onDemandRevisions: { repos: 20, docs: 50000, timeoutMs: 10000, diskBytes: 4294967296 },
      webhooks: {},
      oauth: {
        codeTtlSeconds: 600,
        accessTokenTtlSeconds: 3600,
        refreshTokenTtlSeconds: 7_776_000,
      },
    });
    assert.deepEqual(readSettings({ onDemandRevisions: { docs: 7 } }).onDemandRevisions, {
      repos: 20,
      docs: 7,
      timeoutMs: 10000,
      diskBytes: 4294967296,
    });
    assert.equal(
      readSettings({ rateLimit: { requestsPerDay: null } }).rateLimit.requestsPerDay,
      null,
    );
    assert.equal(readSettings({ searchTimeoutMs: 0 }).searchTimeoutMs, 0);
    const cases: [string, unknown][] = [
      ['maxMatchCount', 0],
      ['maxMatchCount', 1.5],
      ['maxMatchCount', '5'],
      ['maxMatchCount', null],
      ['searchTimeoutMs', -1],
      ['alwaysIndexFilePatterns', '*.js'],
      ['maxMatchcount', 5],
      ['rateLimit', { requestsPerDay: 0 }],
      ['rateLimit', { perDay: 5 }],
      ['apiKeyHeaderAliases', ['no header']],
      ['apiKeyUsage', 'nobody'],
      ['trustedProxies', ['10.0.0.0/33']],
      ['trustedProxies', ['proxy.example']],
      ['anonymousAccess', 'true'],
      ['webhooks', { secret: 'hunter2' }],
      ['oauth', { codeTtlSeconds: 0 }],
      ['oauth', { ttl: 5 }],
      ['reindexIntervalMs', 0],
    ];
    for (const [key, value] of cases) {
      assert.throws(
        () => readSettings({ [key]: value }),
        (error) => error instanceof ConfigError && error.variable === `settings.${key}`,
        `${key}: ${JSON.stringify(value)}`,
      );
    }
  });

  test('the product version is that of package.json', () => {
    const text = readFileSync('package.json', 'utf8');
    assert.equal(readProductVersion(), (JSON.parse(text) as { version: string }).version);
  });
});
