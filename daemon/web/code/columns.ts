// Columns of the API are counted in code points, those of the page in UTF-16 units; of most texts both are the same. A line may
// have millions of them, so that no list of its characters is made. Pure.

const SURROGATE = /[\uD800-\uDFFF]/;

/** From columns of a text, in code points, to UTF-16 units. Columns that ascend are counted on from the last one. */
export function unitsIn(text: string): (column: number) => number {
  if (!SURROGATE.test(text)) return (column) => Math.min(column - 1, text.length);
  let anchor = { column: 1, units: 0 };
  return (column) => {
    let { column: at, units } = column < anchor.column ? { column: 1, units: 0 } : anchor;
    for (; at < column && units < text.length; at++)
      units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
    anchor = { column: at, units };
    return units;
  };
}

/** The code points of a text. */
export function pointCount(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}
