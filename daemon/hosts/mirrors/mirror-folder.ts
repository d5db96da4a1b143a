// Files of a mirror besides git's own: a state file with what it contained when complete, HEAD, names of mirrors under
// construction, and leftovers of interrupted fetches. A folder without a state file was never complete.

import type { Dirent } from 'node:fs';
import { appendFile, copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../../base/caught.ts';
import { readOwnSoon } from '../../base/own-file.ts';
import { entriesOf } from '../../sources/git/git-paths.ts';
import { refStateOf } from '../../sources/git/ref-state.ts';
import { parsePacked } from './remote-refs.ts';

const STATE_NAME = 'trawl-mirror.json';
const PACKED_REFS = 'packed-refs';
const PACKS = 'objects/pack';
const NEW = '.new-';
const OLD = '.old-';

const stateSchema = z
  .object({
    version: z.literal(1),
    /** Of branches and tags (`digestOf`). */
    refs: z.string(),
    /** Full name, as latin1; null: the host has none. */
    defaultBranch: z.string().nullable(),
    /** Digits of an id; 0: no refs. */
    idLength: z.number(),
    /** `refState`, as it is named on disk: fingerprint of the ref files. A change makes the next fetch compare them. */
    look: z.string(),
  })
  .transform(({ look, ...state }) => ({ ...state, refState: look }));

export type MirrorState = Omit<z.output<typeof stateSchema>, 'version'>;

/** State of a complete mirror; undefined: it never was, or is no mirror. Errors: the file system's. */
export async function readState(folder: string): Promise<MirrorState | undefined> {
  try {
    const bytes = await readOwnSoon(path.join(folder, STATE_NAME));
    return stateSchema.parse(JSON.parse(bytes.toString('latin1')));
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== undefined && code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    return undefined;
  }
}

/** Writes the mirror's state, with its refs packed. Errors: the file system's. */
export async function writeState(
  folder: string,
  state: Omit<MirrorState, 'refState'>,
): Promise<void> {
  const text = JSON.stringify({ version: 1, ...state, look: refStateOf(folder) });
  await replaceFile(path.join(folder, STATE_NAME), text);
}

/** Sets HEAD. @param branch  full name, as latin1 */
export async function writeHead(folder: string, branch: string): Promise<void> {
  await replaceFile(path.join(folder, 'HEAD'), `ref: ${branch}\n`);
}

/** Removes the address that git clone wrote into the configuration: it is passed each time, and may change. */
export async function forgetRemote(folder: string): Promise<void> {
  const file = path.join(folder, 'config');
  const text = await readFile(file, 'latin1');
  await replaceFile(file, text.replace(/^\[remote "origin"\]\n(?:\t.*\n)*/m, ''));
}

async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.tmp`, text, 'latin1');
  await rename(`${file}.tmp`, file);
}

/** `name id` of each branch and tag, after packing. */
export async function packedLines(folder: string): Promise<string[]> {
  try {
    return parsePacked(await readFile(path.join(folder, PACKED_REFS), 'latin1'));
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

let freshCount = 0;

/** A unique name beside the mirror for one under construction; also differs from leftovers of a killed daemon. */
export function freshFolder(folder: string): string {
  return `${folder}${NEW}${process.pid}-${Date.now()}-${++freshCount}`;
}

/** Replaces the old mirror, which is removed, by a complete new one. Errors: the file system's. */
export async function moveIn(fresh: string, folder: string): Promise<void> {
  const old = fresh.replace(NEW, OLD);
  try {
    await rename(folder, old);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
  await rename(fresh, folder);
  await rm(old, { recursive: true, force: true });
}

/**
 * Creates a stage for a fetch: a repository with the refs of a mirror that sees its objects, but not the other way round.
 */
export async function makeStage(stage: string, folder: string): Promise<void> {
  for (const name of ['refs', PACKS, 'objects/info'])
    await mkdir(path.join(stage, name), { recursive: true });
  // Relative: special characters of a path have a meaning in this file.
  const objects = path.relative(path.join(stage, 'objects'), path.join(folder, 'objects'));
  await writeFile(path.join(stage, 'objects/info/alternates'), `${objects}\n`);
  for (const name of ['HEAD', 'config', PACKED_REFS]) await copyIfThere(name, folder, stage);
}

async function copyIfThere(name: string, from: string, to: string): Promise<void> {
  try {
    await copyFile(path.join(from, name), path.join(to, name));
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** Moves the stage's content into the mirror: objects first, then all refs at once, packed. Errors: the file system's. */
export async function takeOver(stage: string, folder: string): Promise<void> {
  const names = (await entriesOf(path.join(stage, PACKS))).map(({ name }) => name);
  const [indexes, others] = [names.filter(isPackIndex), names.filter((name) => !isPackIndex(name))];
  // Git finds a pack by its index.
  for (const name of [...others, ...indexes])
    await rename(path.join(stage, PACKS, name), path.join(folder, PACKS, name));
  // A stage without refs has no such file.
  await appendFile(path.join(stage, PACKED_REFS), '');
  await rename(path.join(stage, PACKED_REFS), path.join(folder, PACKED_REFS));
  // Loose refs would take precedence.
  for (const name of ['heads', 'tags']) {
    await rm(path.join(folder, 'refs', name), { recursive: true, force: true });
    await mkdir(path.join(folder, 'refs', name), { recursive: true });
  }
}

/**
 * Removes leftovers of a killed daemon; completes the move if a finished mirror was about to be moved in and none is in its
 * place.
 */
export async function tidyBeside(folder: string): Promise<void> {
  const parent = path.dirname(folder);
  const name = path.basename(folder);
  for (const found of await entriesOf(parent)) {
    if (!found.name.startsWith(name + NEW) && !found.name.startsWith(name + OLD)) continue;
    const location = path.join(parent, found.name);
    const isWhole = found.name.startsWith(name + NEW) && (await readState(location)) !== undefined;
    if (isWhole && (await readState(folder)) === undefined) await moveIn(location, folder);
    else await rm(location, { recursive: true, force: true });
  }
}

/**
 * Removes leftovers of an interrupted git: locks, which would block the next one, partial packs, and keep files. No git of
 * ours may be writing there.
 */
export async function tidyInside(folder: string): Promise<void> {
  await removeIn(folder, /\.(?:lock|tmp)$/);
  await removeIn(path.join(folder, 'objects'), /^tmp_|\.lock$/);
  await removeIn(path.join(folder, 'objects/info'), /\.lock$|^tmp_/);
  await removeIn(path.join(folder, 'objects/info/commit-graphs'), /\.lock$|^tmp_/);
  await removeIn(path.join(folder, PACKS), /^\.?tmp[_-]|\.(?:lock|keep)$/);
  await removeBelow(path.join(folder, 'refs'), /\.lock$/);
}

function isPackIndex(name: string): boolean {
  return name.endsWith('.idx');
}

async function removeIn(folder: string, names: RegExp): Promise<Dirent[]> {
  const entries = await entriesOf(folder);
  for (const { name } of entries.filter((entry) => names.test(entry.name)))
    await rm(path.join(folder, name), { recursive: true, force: true });
  return entries;
}

async function removeBelow(folder: string, names: RegExp): Promise<void> {
  for (const entry of await removeIn(folder, names))
    if (entry.isDirectory()) await removeBelow(path.join(folder, entry.name), names);
}
