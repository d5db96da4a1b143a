// Lines of a file in an address.

/** Lines of a file, 1-based, both inclusive. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** Of `highlightRange`: `12`, `12-20`, `12:5-12:14`. Columns are not kept. */
export function lineRangeOf(text: string | undefined): LineRange | undefined {
  const found = /^(\d+)(?::\d+)?(?:-(\d+)(?::\d+)?)?$/.exec(text ?? '');
  if (found === null) return undefined;
  const from = Number(found[1]);
  const to = Number(found[2] ?? from);
  return from < 1 ? undefined : { from: Math.min(from, to), to: Math.max(from, to) };
}

export function rangeText({ from, to }: LineRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}
