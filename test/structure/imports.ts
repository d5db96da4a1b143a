// Which file imports which, read from the sources by a pattern: enough for import and export ... from
// statements and dynamic imports as prettier writes them.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Import {
  /** Path below the checkout, with `/`. */
  readonly file: string;
  /** A file like `file`, or the name of a package. */
  readonly target: string;
  /** By `import()`. */
  readonly isLater: boolean;
}

const IMPORT =
  /^\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?'(?<from>[^']+)'|\bimport\(\s*'(?<called>[^']+)'/gm;

/** Files with one of these endings below a folder, sorted. */
export function filesBelow(folder: string, ...endings: string[]): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .sort();
}

/** All imports of the files. */
export function importsOf(files: readonly string[]): Import[] {
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(({ groups }) => ({
      file,
      target: resolveTarget(file, groups?.['from'] ?? groups?.['called'] ?? ''),
      isLater: groups?.['called'] !== undefined,
    })),
  );
}

function resolveTarget(file: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const target = path.posix.join(path.posix.dirname(file), specifier);
  // The AssemblyScript sources leave the ending off here and there.
  return /\.(?:tsx?|js|mjs|json|css)$/.test(target) ? target : `${target}.ts`;
}

/** A cycle among the files, as its members in order; undefined if there is none. */
export function findCycle(
  imports: readonly Pick<Import, 'file' | 'target'>[],
): string[] | undefined {
  const targets = new Map<string, string[]>();
  for (const { file, target } of imports) targets.set(file, [...(targets.get(file) ?? []), target]);
  const done = new Set<string>();
  const path: string[] = [];
  return [...targets.keys()].map(visit).find((cycle) => cycle !== undefined);

  function visit(file: string): string[] | undefined {
    if (done.has(file)) return undefined;
    const start = path.indexOf(file);
    if (start >= 0) return [...path.slice(start), file];
    path.push(file);
    const cycle = (targets.get(file) ?? []).map(visit).find((found) => found !== undefined);
    path.pop();
    done.add(file);
    return cycle;
  }
}
