// The column beside the code that says where each line comes from: at the first line of a stretch who, when and why, with a
// link to the commit; nothing at the others.

import { gutter, GutterMarker } from '@codemirror/view';
import type { Extension } from '@codemirror/state';

/** Consecutive lines of one commit. */
export interface BlameStretch {
  /** 1-based. */
  readonly startLine: number;
  readonly author: string;
  readonly date: string;
  readonly message: string;
  /** Address of the commit, with the base path. */
  readonly address: string;
}

const YEAR_MONTH = new Intl.DateTimeFormat('en', { year: 'numeric', month: 'short' });

class StretchMarker extends GutterMarker {
  readonly #stretch: BlameStretch;

  constructor(stretch: BlameStretch) {
    super();
    this.#stretch = stretch;
  }

  override toDOM(): Node {
    const { author, date, message, address } = this.#stretch;
    const link = document.createElement('a');
    link.className = 'blame-mark';
    link.href = address;
    link.title = `${message}\n${author}, ${date}`;
    for (const [name, text] of [
      ['blame-author', author],
      ['blame-when', YEAR_MONTH.format(new Date(date))],
      ['blame-message', message],
    ] as const) {
      const part = document.createElement('span');
      part.className = name;
      part.textContent = text;
      link.append(part);
    }
    return link;
  }
}

class Blank extends GutterMarker {
  override toDOM(): Node {
    return document.createElement('span');
  }
}

const BLANK = new Blank();

/** @param stretches  in the order of the file */
export function blameGutter(stretches: readonly BlameStretch[]): Extension {
  const markers = new Map(stretches.map((one) => [one.startLine, new StretchMarker(one)]));
  return gutter({
    class: 'blame-gutter',
    lineMarker: (view, block) => markers.get(view.state.doc.lineAt(block.from).number) ?? BLANK,
  });
}
