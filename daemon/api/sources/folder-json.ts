// The children of folders as JSON, joined from fragments and cached, as a folder may have a hundred thousand. Measured
// 2026-11-21, 2 busy cores, 10,000 children: 4 ms by JSON.stringify, 1.8 by fragments, nothing if cached.

import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { folderOf } from '../../base/paths.ts';
import type { FolderChild, Folders } from '../../sources/git/tree-paths.ts';

interface Kept {
  readonly folder: string;
  readonly json: Promise<string>;
}

/** Children written between two turns: about a millisecond. */
const ITEMS_PER_TIME_SLICE = 4000;

type ItemCache = WeakMap<readonly FolderChild[], Kept>;

const keptItems: ItemCache = new WeakMap();
const keptClosed: ItemCache = new WeakMap();

/** A text escaped for JSON, without quotes. */
function escape(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function membersOf(escapedFolder: string, { name, type }: FolderChild): string {
  const prefix = escapedFolder === '' ? '' : `${escapedFolder}/`;
  const escaped = escape(name);
  return `"type":"${type}","path":"${prefix}${escaped}","name":"${escaped}"`;
}

/** `rest`: members after the name. */
async function renderList(
  folder: string,
  children: readonly FolderChild[],
  rest: string,
  clientKey: string,
): Promise<string> {
  const escapedFolder = escape(folder);
  const items: string[] = [];
  for (const [index, child] of children.entries()) {
    if (index % ITEMS_PER_TIME_SLICE === ITEMS_PER_TIME_SLICE - 1) await nextTimeSlice(clientKey);
    items.push(`{${membersOf(escapedFolder, child)}${rest}}`);
  }
  // Not by adding to a text: V8 would keep each part, of 32 bytes and more, for as long as the whole.
  return items.join(',');
}

function renderKept(
  itemCache: ItemCache,
  folder: string,
  children: readonly FolderChild[],
  rest: string,
  clientKey: string,
): Promise<string> {
  const kept = itemCache.get(children);
  if (kept?.folder === folder) return kept.json;
  const json = renderList(folder, children, rest, clientKey);
  itemCache.set(children, { folder, json });
  return json;
}

/** `clientKey`: the client that it is for. Yields to other requests. */
export async function folderJson(
  folder: string,
  children: readonly FolderChild[],
  clientKey: string,
): Promise<string> {
  return `[${await renderKept(keptItems, folder, children, '', clientKey)}]`;
}

interface Level {
  readonly folder: string;
  readonly children: readonly FolderChild[];
  index: number;
}

/**
 * The root as a node with `type`, `path`, `name` and `children`, without recursion; `open`: paths of the expanded
 * folders, with all their parents and "". Yields to other requests.
 */
export async function treeJson(
  folders: Folders,
  open: ReadonlySet<string>,
  { signal, clientKey }: { readonly signal: AbortSignal; readonly clientKey: string },
): Promise<string> {
  const withOpenChildren = new Set([...open].filter((path) => path !== '').map(folderOf));
  const parts = ['{"type":"tree","path":"","name":"root","children":['];
  const levels: Level[] = [{ folder: '', children: folders.get('') ?? [], index: 0 }];
  let count = 0;
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { folder, children } = level;
    if (!withOpenChildren.has(folder)) {
      parts.push(await renderKept(keptClosed, folder, children, ',"children":[]', clientKey));
      count += children.length;
    }
    const child = withOpenChildren.has(folder) ? children[level.index++] : undefined;
    if (child === undefined) {
      parts.push(']}');
      levels.pop();
    } else {
      const comma = level.index > 1 ? ',' : '';
      parts.push(`${comma}{${membersOf(escape(folder), child)},"children":[`);
      const path = folder === '' ? child.name : `${folder}/${child.name}`;
      if (child.type === 'tree' && open.has(path))
        levels.push({ folder: path, children: folders.get(path) ?? [], index: 0 });
      else parts.push(']}');
      count++;
    }
    if (count < ITEMS_PER_TIME_SLICE) continue;
    count = 0;
    await nextTimeSlice(clientKey);
    signal.throwIfAborted();
  }
  return parts.join('');
}
