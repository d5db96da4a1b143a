// The checks of `trawl doctor`. Each has a time limit and changes nothing; they need neither a daemon nor an index.

import { once } from 'node:events';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import type { ErrorObject } from '../api/shapes/api-error.ts';
import type { StatusReport } from '../api/shapes/status-report.ts';
import { messageOf } from '../base/caught.ts';
import { readCatalog } from '../app/read-catalog.ts';
import {
  type Configuration,
  type ListenAddress,
  openConfiguration,
  type TlsFiles,
} from '../base/config/configuration.ts';
import { findControlPath } from '../base/config/control-path.ts';
import { ConfigError, RefusedFileError } from '../base/config/error.ts';
import { findInstanceSecret } from '../base/config/secrets.ts';
import { VARIABLES } from '../base/config/variables.ts';
import { readProductVersion } from '../base/config/version.ts';
import { createLog } from '../base/log.ts';
import { listen, resolveBinding } from '../http/binding.ts';
import { endOf, readPair } from '../http/certificate.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import { StoreError } from '../store/error.ts';
import { INDEX_FILE } from '../store/sqlite.ts';
import { callControl, NoDaemonError, systemAccount } from './control-client.ts';
import * as machine from './doctor-machine.ts';
import { fine, type Outcome, problem, warning } from './doctor-outcome.ts';
import { describeError } from './errors.ts';
import { countOf } from './format.ts';
import type { CommonOptions } from './open-local.ts';
import type { CheckedFile } from './probe-connections.ts';
import { checkConfiguration } from './services.ts';

export interface Finding extends Outcome {
  readonly check: string;
}

export interface Diagnosis {
  readonly findings: readonly Finding[];
  /** A check still waits, perhaps in the kernel, and would keep the process. */
  readonly isStuck: boolean;
}

/** Unit: ms. Of a check; of the one that asks all hosts, eight at a time; of one host; of a path. */
const CHECK_MS = 15_000;
const HOSTS_MS = 60_000;
const HOST_MS = 10_000;
const PATH_MS = 5_000;
/** Unit: ms. Bound: half of what tokens may be late; the time in an answer is up to a second old. */
const CLOCK_MS_MAX = 30_000;

export class Findings implements Diagnosis {
  readonly findings: Finding[] = [];
  isStuck = false;

  /** The value that the check returns beside its outcomes; undefined: it has none. */
  async add<Value>(
    check: string,
    run: () => Promise<{ readonly outcomes: readonly Outcome[]; readonly value?: Value }>,
    limitMs = CHECK_MS,
    what = '',
  ): Promise<Value | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, limitMs, undefined);
    });
    const ran = await Promise.race([late, run().catch(failed)]);
    clearTimeout(timer);
    this.isStuck ||= ran === undefined;
    const silence = `no answer within ${limitMs / 1000} s${what === '' ? '' : ` from ${what}`}`;
    const outcomes = ran?.outcomes ?? [problem(silence, 'look at the disk or the host behind it')];
    this.findings.push(...outcomes.map((outcome) => ({ check, ...outcome })));
    return ran?.value;
  }
}

function failed(error: unknown): { readonly outcomes: readonly Outcome[]; readonly value?: never } {
  return { outcomes: [problem(describeError(error).replaceAll(/^error: /gm, ''))] };
}

async function only(outcomes: Promise<Outcome[]>) {
  return { outcomes: await outcomes };
}

export async function diagnose(options: CommonOptions): Promise<Diagnosis> {
  const found = new Findings();
  const { config } = options;
  const dataDir = path.resolve(options.dataDir);
  const variables = Object.entries(process.env).flatMap(([name, file = '']) =>
    /^TRAWL_\w+_FILE$/.test(name) && name !== 'TRAWL_LOG_FILE' && file !== '' ? [file] : [],
  );
  await found.add('node', () => only(machine.checkNode()));
  await found.add('git', () => only(machine.checkGit()));
  await found.add('symbols', () => only(machine.checkSymbols()));
  await found.add('limits', () => only(machine.checkLimits(dataDir)));
  // Why first: what is read without a limit below would wait for ever on a disk that does not answer.
  const files = config === undefined || /^https?:/i.test(config) ? [] : [config];
  const paths = [dataDir, ...variables, ...files];
  for (const location of paths)
    await found.add('paths', () => checkPath(location), PATH_MS, location);
  if (found.isStuck) return found;
  const configuration = await found.add('configuration', () => openChecked(options));
  const file =
    config === undefined || configuration === undefined
      ? undefined
      : await found.add('hosts', () => checkHosts(config), HOSTS_MS);
  const tls = configuration?.tls;
  if (tls !== undefined) await found.add('tls', () => checkTls(tls));
  const keys = tls === undefined ? [] : [tls.key];
  const secrets = [...variables, ...filesOf(file), ...keys];
  await found.add('store', () => checkStore(configuration, dataDir));
  await found.add('disk', () => only(machine.checkDisk(dataDir)));
  await found.add('rights', () => only(machine.checkRights(dataDir, secrets)));
  const shards = (await found.add('index', () => checkIndex(dataDir))) ?? [];
  const workers = configuration?.workerCount ?? 1;
  await found.add('mappings', () => only(machine.checkMappings(shards, workers)));
  await found.add('daemon', () => checkDaemon(dataDir, configuration));
  return found;
}

/** Whether the file system answers at all; one that is missing is for other checks. Why statfs: the system keeps no answer. */
async function checkPath(location: string) {
  await statfs(location).catch(() => undefined);
  return { outcomes: [] };
}

async function openChecked(options: CommonOptions) {
  let value: Configuration;
  try {
    value = await openConfiguration({ env: { ...process.env }, flags: { ...options } });
  } catch (error) {
    if (!(error instanceof RefusedFileError)) throw error;
    return { outcomes: error.diagnostics.map((text) => problem(text, 'correct the file')) };
  }
  const notices = value.notices.map((notice) => warning(notice, 'remove or correct it'));
  const { connections, source } = value;
  const from = source === undefined ? 'variables alone' : source.name;
  const says = `valid: ${from}, ${countOf(Object.keys(connections).length, 'connection')}`;
  return { outcomes: notices.length > 0 ? notices : [fine(says)], value };
}

/** Hosts and identity providers, their clocks, and the secrets that the file names. */
async function checkHosts(location: string) {
  const value = await checkConfiguration(location, true, HOST_MS);
  const { diagnostics, secrets, probed, probedProviders } = value;
  const all = [
    ...diagnostics.map((text) => problem(text, 'correct the file')),
    ...secrets.flatMap(({ key, from, problem: why }) =>
      why === undefined ? [] : [problem(`${key}: ${from} is ${why}`, 'provide the secret')],
    ),
    ...probed.map((one) => outcomeOf(one.connection, one, one.clockAheadMs)),
    ...probedProviders.map((one) => outcomeOf(one.provider, one)),
  ];
  return { outcomes: all.length > 0 ? all : [fine('the file names none')], value };
}

function outcomeOf(
  name: string,
  { state, says }: { readonly state: string; readonly says: string },
  clockAheadMs = 0,
): Outcome {
  if (state === 'failed') return problem(`${name}: ${says}`);
  return clockOutcome(name, clockAheadMs) ?? fine(`${name}: ${says}`);
}

/** Undefined: the clocks agree. */
function clockOutcome(name: string, aheadMs: number): Outcome | undefined {
  if (Math.abs(aheadMs) <= CLOCK_MS_MAX) return undefined;
  const difference = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  return problem(
    `the clock of ${name} is ${difference}`,
    'set the clocks: timedatectl set-ntp true',
  );
}

function filesOf(file: CheckedFile | undefined): string[] {
  return (file?.secrets ?? []).flatMap(({ key, from }) =>
    from.startsWith('file ') && !key.endsWith('.caFile') ? [from.slice('file '.length)] : [],
  );
}

/** Source: certbot renews 30 days before the end, so with 14 left renewing has failed for two weeks. */
const RENEWED_MS = 14 * 86_400_000;

async function checkTls(files: TlsFiles) {
  const pair = readPair(files);
  const end = endOf(files, pair);
  const until = `valid until ${new Date(pair.endMs).toISOString()}`;
  if (end !== undefined) return { outcomes: [problem(end)] };
  const isNear = pair.endMs - Date.now() < RENEWED_MS;
  return { outcomes: [isNear ? warning(until, 'see why it is not renewed') : fine(until)] };
}

async function checkStore(configuration: Configuration | undefined, dataDir: string) {
  const address = configuration?.databaseUrl;
  if (configuration === undefined)
    return { outcomes: [warning('not known', 'correct the configuration')] };
  if (configuration.secret === undefined) findInstanceSecret(dataDir);
  if (address === undefined) return { outcomes: [await embeddedOutcome(dataDir)] };
  const { probePostgres } = await import('../store/postgres.ts');
  const log = createLog({ level: 'error', format: 'text', file: undefined });
  try {
    const { version, clockAheadMs } = await probePostgres(address.reveal(), log);
    const outcome = clockOutcome('PostgreSQL', clockAheadMs);
    return { outcomes: [outcome ?? fine(`PostgreSQL ${version}; its clock agrees`)] };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const says = `${error.message}: ${messageOf(error.cause)}`;
    const remedy = 'check that it runs, the address in TRAWL_DATABASE_URL, and the network between';
    return { outcomes: [problem(says, remedy)] };
  }
}

async function embeddedOutcome(dataDir: string): Promise<Outcome> {
  const { checkStored } = await import('../store/embedded.ts');
  try {
    if (checkStored(dataDir)) return fine('embedded, whole');
    if (!existsSync(path.join(dataDir, INDEX_FILE))) return fine('embedded; none yet');
    return warning(
      'an index, but no store.db: a start makes a new store, without accounts and permissions',
      'restore a backup ("trawl restore"), or set TRAWL_DATABASE_URL if the store is in PostgreSQL',
    );
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return problem(error.message);
  }
}

async function checkIndex(dataDir: string) {
  const catalog = await readCatalog(dataDir);
  const { repos, damaged, shardFiles: value } = catalog;
  const lost = lostFiles(catalog);
  // A daemon may have removed what was replaced meanwhile.
  const named = lost.length === 0 ? [] : (await readCatalog(dataDir)).fileNames;
  const [first, ...others] = lost.filter((file) => named.includes(file));
  const remedy = '"trawl verify" names what is damaged; a start of "trawl serve" builds it again';
  if (damaged.length > 0)
    return {
      outcomes: [warning(`damaged entries of repositories: ${damaged.length}`, remedy)],
      value,
    };
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` and ${countOf(others.length, 'other file')}`;
    const says = `${first}${more}: missing, unreadable or of another size`;
    return { outcomes: [warning(says, remedy)], value };
  }
  const says =
    repos.length === 0
      ? 'none yet'
      : `${countOf(repos.length, 'repository', 'repositories')}, ${countOf(value.length, 'shard')}; "trawl verify" checks every byte`;
  return { outcomes: [fine(says)], value };
}

/** Names of files of the index that are missing, unreadable or of another size. */
function lostFiles(catalog: Catalog): string[] {
  const files = catalog.shardFiles.flatMap(({ symbols, ...shard }) =>
    symbols === undefined ? [shard] : [shard, symbols],
  );
  const lost = files.filter(({ path: file, size }) => {
    try {
      accessSync(file, constants.R_OK);
      return statSync(file).size !== size;
    } catch {
      return true;
    }
  });
  const revisions = catalog.repos.flatMap((repo) =>
    catalog.revisionsOf(repo) instanceof Error ? [catalog.revisionPath(repo.revisionFile!)] : [],
  );
  return [...lost.map((one) => one.path), ...revisions].map((file) => path.basename(file));
}

async function checkDaemon(dataDir: string, configuration: Configuration | undefined) {
  const call = { method: 'GET', path: '/api/status', account: systemAccount() };
  try {
    const response = await callControl(findControlPath(dataDir), call);
    // Safety: the daemon's tests check every answer against its schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const answer = (await json(response)) as StatusReport | ErrorObject;
    if ('errorCode' in answer) {
      const isCommand = answer.errorCode === 'NOT_READY';
      const command = fine('none, but a command that works on the data directory');
      return { outcomes: [isCommand ? command : problem(answer.message)] };
    }
    const { version, url, problems, warnings } = answer;
    const other =
      version === readProductVersion()
        ? []
        : [
            warning(
              `the daemon is of version ${version}, this command of ${readProductVersion()}`,
              'restart the daemon',
            ),
          ];
    const all = [
      ...other,
      ...problems.map((text) => problem(text)),
      ...warnings.map((text) => warning(text)),
    ];
    const at = url ?? 'its control socket alone';
    return { outcomes: all.length > 0 ? all : [fine(`version ${version} runs, at ${at}`)] };
  } catch (error) {
    if (!(error instanceof NoDaemonError)) throw error;
    const taken = configuration && (await whyNotFree(configuration));
    return { outcomes: [taken ?? fine('none runs on this data directory')] };
  }
}

/** Undefined: a daemon could listen. A warning, as the service manager may hold the port for the daemon. */
async function whyNotFree({ host, port }: ListenAddress): Promise<Outcome | undefined> {
  const server = createServer();
  const adapter = {
    async listen(address: string) {
      await once(server.listen(port, address), 'listening');
      return { host: address, port };
    },
  };
  try {
    const binding = await resolveBinding(host, VARIABLES.host);
    await listen(adapter, binding, { host, port }, 'TRAWL_HOST, TRAWL_PORT');
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return warning(error.message);
    throw error;
  } finally {
    server.close();
  }
}
