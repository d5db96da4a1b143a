// What `trawl inspect` and `trawl verify` do: they describe and check index files, also while a daemon holds the data
// directory. Loads the engine.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { isShortage, messageOf, systemCodeOf } from '../base/caught.ts';
import { FILE_ID, hashFile } from '../base/file-hash.ts';
import { NoFileError } from '../base/own-file.ts';
import { compileCore } from '../engine/host/core.ts';
import { verifyShardFile, verifySymbolsFile } from '../engine/host/verify.ts';
import {
  inspectShard as inspectFile,
  type Inspection,
  type InspectRequest,
} from '../engine/shards/inspect.ts';
import { readCatalog } from '../app/read-catalog.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import { quarantineIn } from '../index/served/served.ts';
import { CatalogError } from '../store/index-tables.ts';
import { INDEX_FILE } from '../store/sqlite.ts';
import {
  type NextMerge,
  type IndexSummary,
  type ShardSummary,
  summaryOf,
} from '../index/merge/index-summary.ts';
import { noFileError, noIndexError, UsageError } from './errors.ts';

export interface IndexReport extends IndexSummary {
  readonly dataDir: string;
}

export interface ShardReport extends Inspection {
  /** Its place in the index; absent: in no index, or the catalog cannot be read. */
  readonly index?: ShardSummary & { readonly nextMerge: NextMerge | null };
}

/** Errors: no index; CatalogError. */
export async function summarizeIndex(dataDir: string): Promise<IndexReport> {
  return { dataDir: path.resolve(dataDir), ...summaryIn(await indexIn(dataDir)) };
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
  const { shards, nextMerge } = summaryIn(catalog);
  const row = shards.find(({ shardId }) => shardId === path.parse(request.path).name);
  return row === undefined ? inspection : { ...inspection, index: { ...row, nextMerge } };
}

function summaryIn(catalog: Catalog): IndexSummary {
  return summaryOf(catalog, quarantineIn(catalog));
}

async function indexIn(dataDir: string): Promise<Catalog> {
  const catalog = await readCatalog(path.resolve(dataDir));
  const isEmpty = catalog.repos.every(({ record }) => record.indexedAt === undefined);
  if (isEmpty && catalog.damaged.length === 0) throw noIndexError(dataDir);
  return catalog;
}

export interface VerifyOptions {
  readonly dataDir: string;
  readonly paths: readonly string[];
}

export interface ShardCheck {
  readonly path: string;
  /** Empty: valid. */
  readonly problems: readonly string[];
  /** Of a shard in the index: its docs that no revision has, which is not a problem. */
  readonly deadCount?: number | undefined;
  readonly outOfService?: string | undefined;
}

/** Errors: no index, an unreadable path; a damaged or missing file of an index is a result. */
export async function verifyShards({ dataDir, paths }: VerifyOptions): Promise<ShardCheck[]> {
  const other = paths.find((file) => /\.(tags|revisions)$/.test(file));
  if (other !== undefined)
    throw new UsageError(
      `${other} is not a shard; without a path all files of an index are checked`,
    );
  for (const file of paths) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) throw noFileError(file);
    if (found.isDirectory())
      throw new UsageError(
        `${file} is a folder, not a shard: "trawl verify --data-dir PATH" checks all`,
      );
  }
  const module = await compileCore();
  if (paths.length > 0) return paths.map((file) => checkOf(file, problemOfShard(module, file)));
  return verifyIndex(module, dataDir);
}

/** A file never changes under its name. */
type Verdicts = Map<string, string | undefined>;

/** If the owner removed a file before its check, the next catalog is checked instead. */
async function verifyIndex(module: WebAssembly.Module, dataDir: string): Promise<ShardCheck[]> {
  const verdicts: Verdicts = new Map();
  for (let catalog = await indexIn(dataDir); ;) {
    const checks = [
      ...catalogChecks(dataDir, catalog),
      ...shardChecks(module, catalog, verdicts),
      ...revisionChecks(catalog),
    ];
    const isThere = ({ path: file, problems }: ShardCheck): boolean =>
      !problems.includes(MISSING) && existsSync(file);
    if (checks.every(isThere)) return checks;
    const next = await indexIn(dataDir);
    const names = new Set(next.fileNames);
    if (catalog.fileNames.every((name) => names.has(name))) return checks;
    catalog = next;
  }
}

const MISSING = 'the file is missing';

/** The problem of a file, also if it is unreadable. Errors: the machine is at fault. */
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

function problemOfName(file: string): string | undefined {
  const { name } = path.parse(file);
  const isHash = FILE_ID.exec(name)?.[0] === name;
  return isHash && hashFile(file) !== name ? 'its content belongs to another name' : undefined;
}

function shardChecks(
  module: WebAssembly.Module,
  catalog: Catalog,
  verdicts: Verdicts,
): ShardCheck[] {
  const verdictOn = (file: string, verify: () => string | undefined): string | undefined => {
    const verdict = verdicts.has(file) ? verdicts.get(file) : problemIn(verify);
    // It may reappear.
    if (verdict !== MISSING) verdicts.set(file, verdict);
    return verdict;
  };
  const rows = new Map(summaryIn(catalog).shards.map((row) => [row.shardId, row]));
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

/** Only if it is damaged: whoever reads a catalog checks it. */
function catalogChecks(dataDir: string, { damaged }: Catalog): ShardCheck[] {
  const problem = `damaged entries of repositories: ${damaged.length}`;
  return damaged.length === 0 ? [] : [checkOf(path.resolve(dataDir, INDEX_FILE), problem)];
}

/** The catalog has read the revision files and checked all bytes. Repos may share one. */
function revisionChecks(catalog: Catalog): ShardCheck[] {
  const checks = catalog.repos.flatMap((repo) => {
    if (repo.revisionFile === undefined) return [];
    const table = catalog.revisionsOf(repo);
    const problem = table instanceof Error ? table.message : undefined;
    return [checkOf(catalog.revisionPath(repo.revisionFile), problem)];
  });
  return [...new Map(checks.map((check) => [check.path, check])).values()];
}

function checkOf(file: string, problem: string | undefined): ShardCheck {
  return { path: file, problems: problem === undefined ? [] : [problem] };
}
