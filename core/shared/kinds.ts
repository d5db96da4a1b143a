// Properties of symbol kinds by their number (symbols.ts): two lists in the order of the numbers, both with eight entries a
// line, so that they can be compared. The daemon lists the names again, as types (daemon/engine/symbols/kinds.ts); a test
// compares the two.

/** As in the API. */
// prettier-ignore
export const SYMBOL_KIND_NAMES: StaticArray<string> = [
  'class', 'struct', 'enum', 'enumMember', 'interface', 'trait', 'type', 'union',
  'function', 'method', 'constructor', 'property', 'field', 'constant', 'variable', 'macro',
  'module', 'namespace', 'package', 'object', 'section', 'label', 'other',
];

/** Points of a range that overlaps a symbol (API.md 6.7: 100 times the factor of the kind). */
// prettier-ignore
export const SYMBOL_KIND_POINTS: StaticArray<u32> = [
  1000, 950, 900, 500, 900, 900, 800, 800,
  800, 700, 700, 550, 550, 500, 400, 550,
  550, 550, 100, 800, 100, 100, 100,
];
