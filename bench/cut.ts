// `node build/bench/cut.js FOLDER BYTES LEVELS SOURCE...`: text files of the sources as hard links below FOLDER, which
// holds BYTES of them; `FOLDER/half` holds half of these, `FOLDER/half/half` a quarter, and so on for LEVELS folders.
// The innermost begins with the first source; the folders of a source come in the order of a hash of their paths.

import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { readSettings } from '../daemon/base/config/settings.ts';

const { maxFileSize } = readSettings();

export function hashOf(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function foldersBelow(source: string): string[] {
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.relative(source, path.join(entry.parentPath, entry.name)))
    .concat('')
    .toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));
}

/** Bytes; 0: its content would not be indexed. */
function textSize(file: string): number {
  const { size } = statSync(file);
  return size <= maxFileSize && !readFileSync(file).includes(0) ? size : 0;
}

function* textsOf(sources: readonly string[]) {
  for (const source of sources)
    for (const folder of foldersBelow(source))
      for (const entry of readdirSync(path.join(source, folder), { withFileTypes: true })) {
        const file = path.join(source, folder, entry.name);
        const size = entry.isFile() ? textSize(file) : 0;
        const name = path.join(path.basename(source), folder, entry.name);
        if (size > 0) yield { file, name, size };
      }
}

function main([folder = '', bytes = '', levels = '', ...sources]: readonly string[]): void {
  if (sources.length === 0) throw new Error('which folder, how many bytes and levels, from where?');
  let size = 0;
  let level = Number(levels) - 1;
  for (const text of textsOf(sources)) {
    while (level >= 0 && size >= Number(bytes) / 2 ** level) level--;
    if (level < 0) break;
    const link = path.join(folder, ...Array<string>(level).fill('half'), text.name);
    mkdirSync(path.dirname(link), { recursive: true });
    linkSync(text.file, link);
    size += text.size;
  }
  process.stdout.write(`${String(size)} bytes\n`);
}

if (import.meta.filename === process.argv[1]) main(process.argv.slice(2));
