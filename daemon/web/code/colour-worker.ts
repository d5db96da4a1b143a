// Computes syntax colours for parts of a text. It parses as far as a part reaches; in a worker, so that the page stays
// responsive.

/// <reference lib="webworker" />

import { type Parser, type Tree, TreeFragment } from '@lezer/common';
import { highlightTree } from '@lezer/highlight';
import type { FromColourer, ToColourer } from './colour-messages.ts';
import { highlighter } from './highlighter.ts';
import { parserOf } from './languages.ts';
import type { Colour } from './marks.ts';

/** Characters that are parsed beyond the requested part. */
const AHEAD = 100_000;

type Part = Extract<ToColourer, { readonly type: 'colour' }>;

let text = '';
let parser: Promise<Parser | undefined> = Promise.resolve(undefined);
let tree: Tree | undefined;
let parsedEnd = 0;

/** Continues parsing up to `end` or a little further. */
function parseTo(end: number, by: Parser): Tree {
  if (tree !== undefined && end <= parsedEnd) return tree;
  const fragments = tree === undefined ? [] : TreeFragment.addTree(tree, [], true);
  const parse = by.startParse(text, fragments);
  parsedEnd = Math.min(end + AHEAD, text.length);
  if (parsedEnd < text.length) parse.stopAt(parsedEnd);
  let made: Tree | null = null;
  while (made === null) made = parse.advance();
  tree = made;
  return made;
}

async function colour({ from, to }: Part): Promise<void> {
  const by = await parser;
  if (by === undefined) return;
  const colours: Colour[] = [];
  const end = Math.min(to, text.length);
  highlightTree(
    parseTo(end, by),
    highlighter,
    (start, stop, name) => {
      // Stretches that overlap the part are returned whole.
      colours.push({ from: start, to: stop, name });
    },
    from,
    end,
  );
  self.postMessage(colours satisfies FromColourer);
}

self.addEventListener('message', ({ data }: MessageEvent<ToColourer>) => {
  if (data.type === 'colour') {
    void colour(data);
    return;
  }
  ({ text } = data);
  parser = parserOf(data.language).catch(() => undefined);
});
