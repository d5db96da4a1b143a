// Symbolic links: Trawl searches their targets as content, ripgrep does not, so this does.

import { readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { escapeLiteral, toJavaScript } from './dialect.ts';
import type { ByteRange, MatchMap } from './ripgrep.ts';

export type LinkMap = ReadonlyMap<string, string>;

export function readLinks(root: string): LinkMap {
  const links = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
      if (entry.name === '.git') continue;
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isSymbolicLink()) links.set(name, readlinkSync(path.join(root, name)));
      else if (entry.isDirectory()) visit(name);
    }
  };
  visit('');
  return links;
}

/** In any case by Unicode simple folding, as ripgrep does. */
export function findInLinks(
  links: LinkMap,
  text: string,
  isCaseSensitive: boolean,
  isRegex = false,
): MatchMap {
  const source = isRegex ? toJavaScript(text) : escapeLiteral(text);
  const expression = new RegExp(source, isCaseSensitive ? 'gmu' : 'gimu');
  const found: MatchMap = new Map();
  for (const [link, target] of links) {
    const matches = Array.from(target.matchAll(expression)).filter(([whole]) => whole !== '');
    const ranges = matches.map((match): ByteRange => {
      const start = Buffer.byteLength(target.slice(0, match.index));
      return [start, start + Buffer.byteLength(match[0])];
    });
    if (ranges.length > 0) found.set(link, ranges);
  }
  return found;
}
