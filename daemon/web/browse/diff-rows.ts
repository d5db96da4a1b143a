// From the hunks of a difference to rows with line numbers on both sides. Pure.

import type { FileDiff } from './history-reading.ts';

type Hunk = FileDiff['hunks'][number];

export interface DiffRow {
  readonly kind: 'added' | 'removed' | 'same' | 'note';
  /** 1-based; undefined: not on that side. */
  readonly oldNumber: number | undefined;
  readonly newNumber: number | undefined;
  /** Without its marker. */
  readonly text: string;
}

const KINDS: Readonly<Record<string, DiffRow['kind']>> = {
  '+': 'added',
  '-': 'removed',
  '\\': 'note',
};

/** Rows of a hunk, in order. */
export function rowsOf({ oldRange, newRange, body }: Hunk): DiffRow[] {
  let oldNumber = oldRange.start;
  let newNumber = newRange.start;
  const lines = body.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    const kind = KINDS[line[0] ?? ''] ?? 'same';
    const isOld = kind === 'removed' || kind === 'same';
    const isNew = kind === 'added' || kind === 'same';
    return {
      kind,
      oldNumber: isOld ? oldNumber++ : undefined,
      newNumber: isNew ? newNumber++ : undefined,
      text: line.slice(1),
    };
  });
}
