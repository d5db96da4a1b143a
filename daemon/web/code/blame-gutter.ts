// The blame column beside the code. The first line of each hunk (consecutive lines of one commit) shows author,
// date and message, with a link to the commit.

import { gutter, GutterMarker } from '@codemirror/view';
import type { Extension } from '@codemirror/state';
import { visibleName } from '../parts/hidden-characters.ts';
import { ageOf } from './age.ts';

/** Consecutive lines from one commit. */
export interface BlameHunk {
  /** 1-based. */
  readonly startLine: number;
  readonly author: string;
  readonly date: string;
  readonly message: string;
  /** Address of the commit, including the base path. */
  readonly address: string;
  /** Address of the file before that commit; undefined: the commit created it. */
  readonly before: string | undefined;
}

function commitLink({ author, date, message, address }: BlameHunk): HTMLElement {
  const link = document.createElement('a');
  link.className = 'blame-commit';
  link.href = address;
  link.title = `${visibleName(message)}\n${visibleName(author)}, ${date}`;
  for (const [name, text] of [
    ['blame-author', author],
    ['blame-when', ageOf(date, Date.now())],
    ['blame-message', message],
  ] as const) {
    const part = document.createElement('span');
    part.className = name;
    part.textContent = visibleName(text);
    link.append(part);
  }
  return link;
}

function beforeLink(address: string): HTMLElement {
  const link = document.createElement('a');
  link.className = 'blame-before';
  link.href = address;
  link.title = 'The file before this commit';
  link.textContent = 'before';
  return link;
}

class HunkMarker extends GutterMarker {
  readonly #hunk: BlameHunk;

  constructor(hunk: BlameHunk) {
    super();
    this.#hunk = hunk;
  }

  override toDOM(): Node {
    const mark = document.createElement('span');
    mark.className = 'blame-mark';
    mark.append(commitLink(this.#hunk));
    const { before } = this.#hunk;
    if (before !== undefined) mark.append(beforeLink(before));
    return mark;
  }
}

class Blank extends GutterMarker {
  override toDOM(): Node {
    return document.createElement('span');
  }
}

const BLANK = new Blank();

/** @param hunks  in file order */
export function blameGutter(hunks: readonly BlameHunk[]): Extension {
  const markers = new Map(hunks.map((one) => [one.startLine, new HunkMarker(one)]));
  return gutter({
    class: 'blame-gutter',
    lineMarker: (view, block) => markers.get(view.state.doc.lineAt(block.from).number) ?? BLANK,
  });
}
