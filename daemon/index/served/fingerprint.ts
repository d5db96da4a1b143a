// Detects whether a repo must be built: compares a fingerprint of everything its docs depend on with that of the last
// build. Before that, without git, it compares the state of the refs.

import { hash } from 'node:crypto';
import { FORMAT_VERSION } from '../../../core/shared/format.ts';
import type { DiskScan } from '../../engine/build/disk-diff.ts';
import { DOC_RULES_VERSION, type FilterSettings } from '../../engine/build/filters.ts';
import type { RepoRecord, SourceRules } from '../../repos/records.ts';
import { fingerprintOfSource, revisionSuffix } from '../../sources/docs/list-source.ts';
import type { SourceSpec } from '../../sources/docs/source.ts';
import { refStateOf } from '../../sources/git/ref-state.ts';
import type { CatalogRepo } from '../catalog/catalog-records.ts';

let stampCount = 0;

/** The fingerprint of the source; after a partial listing one that never matches. */
export function fingerprintNow(
  spec: SourceSpec,
  disk: DiskScan | undefined,
): Promise<string> | string {
  if (disk === undefined) return fingerprintOfSource(spec);
  const { listing, within } = disk;
  const own = within === undefined ? listing.fingerprint : `told ${Date.now()} ${stampCount++}`;
  return own + revisionSuffix(spec);
}

/** Everything the docs depend on: source, rules, filters, format. */
export function fingerprintOf(
  source: string,
  filters: FilterSettings,
  sourceRules: SourceRules,
): string {
  const { maxFileSize, maxTrigramCount, alwaysIndexFilePatterns } = filters;
  const versions = [FORMAT_VERSION, DOC_RULES_VERSION];
  const { noIgnore = false, ignore = [], reposApart = false } = sourceRules;
  const rules = noIgnore || ignore.length > 0 || reposApart ? [noIgnore, ignore, reposApart] : [];
  const settings = [versions, maxFileSize, maxTrigramCount, alwaysIndexFilePatterns];
  const parts = [source, ...settings, ...rules];
  return JSON.stringify(parts);
}

/**
 * The state of a repo's refs and its selected revisions; undefined: its docs are files on disk, or the refs cannot be
 * read this way.
 */
export function refFingerprintOf(record: RepoRecord): string | undefined {
  if (record.source.kind !== 'commits') return undefined;
  try {
    return refFingerprintOfState(refStateOf(record.source.path), record);
  } catch {
    return undefined;
  }
}

/** As `refFingerprintOf`, for this state of the refs. */
export function refFingerprintOfState(refState: string, { selection, source }: RepoRecord): string {
  const pinned = source.commit === undefined ? [] : [source.commit];
  return hash('sha1', JSON.stringify([refState, selection, ...pinned]));
}

export function hasRules({ fingerprint, record }: CatalogRepo, filters: FilterSettings): boolean {
  return (
    fingerprint !== undefined &&
    rulesPartOf(fingerprint) === rulesPartOf(fingerprintOf('', filters, record.source))
  );
}

/** The part of a fingerprint without the source. */
function rulesPartOf(fingerprint: string): string {
  const parts: unknown = JSON.parse(fingerprint);
  return Array.isArray(parts) ? JSON.stringify(parts.slice(1)) : '';
}
