// The blame column beside the code. The first line of each stretch shows author, date and message, with a link to the
// commit.

import { gutter, GutterMarker } from '@codemirror/view';
import type { Extension } from '@codemirror/state';
import { visibleName } from '../parts/hidden-characters.ts';
import { ageOf } from './age.ts';

/** Consecutive lines from one commit. */
export interface BlameStretch {
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

function commitLink({ author, date, message, address }: BlameStretch): HTMLElement {
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

class StretchMarker extends GutterMarker {
  readonly #stretch: BlameStretch;

  constructor(stretch: BlameStretch) {
    super();
    this.#stretch = stretch;
  }

  override toDOM(): Node {
    const mark = document.createElement('span');
    mark.className = 'blame-mark';
    mark.append(commitLink(this.#stretch));
    const { before } = this.#stretch;
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

/** @param stretches  in file order */
export function blameGutter(stretches: readonly BlameStretch[]): Extension {
  const markers = new Map(stretches.map((one) => [one.startLine, new StretchMarker(one)]));
  return gutter({
    class: 'blame-gutter',
    lineMarker: (view, block) => markers.get(view.state.doc.lineAt(block.from).number) ?? BLANK,
  });
}
