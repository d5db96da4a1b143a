// What commands tell of the files of an index: what is in a shard and what of that is in use, whether all bytes are what
// they were. Reads beside whoever owns the data directory. Loads the engine.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { isShortage, messageOf, systemCodeOf } from '../base/caught.ts';
import { FILE_ID, hashFile, SHORT_ID_SIZE } from '../base/file-hash.ts';
import { NoFileError } from '../base/own-file.ts';
import { compileCore } from '../engine/host/core.ts';
import { verifyShardFile, verifySymbolsFile } from '../engine/host/verify.ts';
import {
  inspectShard as inspectFile,
  type Inspection,
  type InspectRequest,
} from '../engine/shards/inspect.ts';
import { readCatalog } from '../app/open-index.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import { CatalogError } from '../index/catalog/catalog-files.ts';
import { QuarantineFile } from '../index/served/quarantine-file.ts';
import {
  type NextMerge,
  type Survey,
  type SurveyedShard,
  surveyOf,
} from '../index/merge/survey.ts';
import { noIndexError, UsageError } from './errors.ts';

/** A survey, and where. */
export interface IndexReport extends Survey {
  /** Absolute path. */
  readonly dataDir: string;
}

/** What a shard file holds. */
export interface ShardReport extends Inspection {
  /** What the index has it for; absent: it is of none, or the catalog cannot be read. */
  readonly index?: SurveyedShard & { readonly nextMerge: NextMerge | null };
}

/** Errors: no index there; CatalogError. */
export async function surveyIndex(dataDir: string): Promise<IndexReport> {
  return { dataDir: path.resolve(dataDir), ...surveyIn(dataDir, await indexIn(dataDir)) };
}

/** Errors: not a shard, unreadable. */
export async function inspectShard(request: InspectRequest): Promise<ShardReport> {
  const inspection = await inspectFile(request);
  const dataDir = path.dirname(path.dirname(path.resolve(request.path)));
  const catalog = await readCatalog(dataDir).catch((error: unknown) => {
    if (error instanceof CatalogError) return undefined;
    throw error;
  });
  if (catalog === undefined) return inspection;
  const { shards, nextMerge } = surveyIn(dataDir, catalog);
  const row = shards.find(({ shardId }) => shardId === path.parse(request.path).name);
  return row === undefined ? inspection : { ...inspection, index: { ...row, nextMerge } };
}

function surveyIn(dataDir: string, catalog: Catalog): Survey {
  return surveyOf(catalog, new QuarantineFile(dataDir).read());
}

async function indexIn(dataDir: string): Promise<Catalog> {
  const catalog = await readCatalog(path.resolve(dataDir));
  if (catalog.repos.every(({ record }) => record.indexedAt === undefined))
    throw noIndexError(dataDir);
  return catalog;
}

export interface VerifyOptions {
  readonly dataDir: string;
  /** Empty: all shards of the data directory. */
  readonly paths: readonly string[];
}

export interface FileCheck {
  readonly path: string;
  /** One sentence each; empty: sound. */
  readonly problems: readonly string[];
  /** Of a shard of the index: its docs that no revision holds, which is no problem. */
  readonly deadCount?: number | undefined;
  /** Why the daemon has it out of service. */
  readonly outOfService?: string | undefined;
}

/** Errors: no index there, a path that cannot be read; a file of an index that is damaged or missing is a result. */
export async function verifyShards({ dataDir, paths }: VerifyOptions): Promise<FileCheck[]> {
  const other = paths.find((file) => /\.(tags|revisions)$/.test(file));
  if (other !== undefined)
    throw new UsageError(`${other} is no shard; without a path all files of an index are checked`);
  const module = await compileCore();
  if (paths.length > 0) return paths.map((file) => checkOf(file, problemOfShard(module, file)));
  return verifyIndex(module, dataDir);
}

/** By path, what is wrong with a file. It stays what it is under its name. */
type Verdicts = Map<string, string | undefined>;

/**
 * All files of an index. Whoever owns it may replace some meanwhile: in place of one that went before it was checked, what
 * the next catalog names is.
 */
async function verifyIndex(module: WebAssembly.Module, dataDir: string): Promise<FileCheck[]> {
  const verdicts: Verdicts = new Map();
  for (let catalog = await indexIn(dataDir); ;) {
    const checks = [...shardChecks(module, dataDir, catalog, verdicts), ...revisionChecks(catalog)];
    const isThere = ({ path: file, problems }: FileCheck): boolean =>
      !problems.includes(MISSING) && existsSync(file);
    if (checks.every(isThere)) return checks;
    const next = await indexIn(dataDir);
    const names = new Set(next.fileNames);
    if ([...catalog.fileNames].every((name) => names.has(name))) return checks;
    catalog = next;
  }
}

const MISSING = 'the file is missing';

/** What is wrong with a file; one that cannot be read is a finding like any other. Errors: the machine is at fault. */
function problemIn(verify: () => string | undefined): string | undefined {
  try {
    return verify();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT') return MISSING;
    if (isShortage(error) || (code === undefined && !(error instanceof NoFileError))) throw error;
    return `it cannot be read: ${messageOf(error)}`;
  }
}

function problemOfShard(module: WebAssembly.Module, file: string): string | undefined {
  return verifyShardFile(module, file) ?? problemOfName(file);
}

/** A sound file may lie at the name of another one. */
function problemOfName(file: string): string | undefined {
  const { name } = path.parse(file);
  const isHash = name.length > SHORT_ID_SIZE && FILE_ID.exec(name)?.[0] === name;
  return isHash && hashFile(file) !== name ? 'another file than its name says' : undefined;
}

function shardChecks(
  module: WebAssembly.Module,
  dataDir: string,
  catalog: Catalog,
  verdicts: Verdicts,
): FileCheck[] {
  const verdictOn = (file: string, verify: () => string | undefined): string | undefined => {
    const verdict = verdicts.has(file) ? verdicts.get(file) : problemIn(verify);
    // It may come back.
    if (verdict !== MISSING) verdicts.set(file, verdict);
    return verdict;
  };
  const rows = new Map(surveyIn(dataDir, catalog).shards.map((row) => [row.shardId, row]));
  return catalog.shardFiles.flatMap(({ shardId, path: file, symbols }) => {
    const { deadCount, outOfService } = rows.get(shardId)!;
    const check = {
      ...checkOf(
        file,
        verdictOn(file, () => problemOfShard(module, file)),
      ),
      deadCount: deadCount ?? undefined,
      outOfService,
    };
    if (symbols === undefined || check.problems.length > 0) return [check];
    const verdict = verdictOn(
      symbols.path,
      () => verifySymbolsFile(module, file, symbols.path) ?? problemOfName(symbols.path),
    );
    return [check, checkOf(symbols.path, verdict)];
  });
}

/** The catalog has read the revision files, and checked all bytes. Repos may share one. */
function revisionChecks(catalog: Catalog): FileCheck[] {
  const checks = catalog.repos.flatMap((repo) => {
    if (repo.revisionFile === undefined) return [];
    const table = catalog.revisionsOf(repo);
    const problem = table instanceof Error ? table.message : undefined;
    return [checkOf(catalog.revisionPath(repo.revisionFile), problem)];
  });
  return [...new Map(checks.map((check) => [check.path, check])).values()];
}

function checkOf(file: string, problem: string | undefined): FileCheck {
  return { path: file, problems: problem === undefined ? [] : [problem] };
}
