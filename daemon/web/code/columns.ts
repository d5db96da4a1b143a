// Converts columns: the API counts code points, the page UTF-16 units. In most texts both are the same. A line may have
// millions of characters, so no list of them is built. Pure.

const SURROGATE = /[\uD800-\uDFFF]/;

/** Converts columns of a text from code points to UTF-16 units. Ascending columns cost one pass over the text. */
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

/** The number of code points in a text. */
export function pointCount(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}
