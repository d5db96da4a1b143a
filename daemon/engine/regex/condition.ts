// The literals that every match of an expression contains, as AND and OR. Lists omit parts that another part implies.

/** Texts contained in a match; the maker decides whether case counts. */
export type Condition =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'and' | 'or'; readonly children: readonly Condition[] };

/** Most literals of one condition. Bound: time for planning. */
const CONDITION_LITERALS_MAX = 200;

export const ALL: Condition = { kind: 'all' };
export const NONE: Condition = { kind: 'none' };

/** A match contains one of `texts`; an empty list matches nothing. */
export function anyOf(texts: readonly string[]): Condition {
  const distinct = [...new Set(texts)];
  const kept = distinct.filter(
    (text) => !distinct.some((other) => other.length < text.length && text.includes(other)),
  );
  if (kept.length > CONDITION_LITERALS_MAX) return ALL;
  const literals = kept.map((text) => ({ kind: 'literal', text }) as const);
  return literals.length === 0 ? NONE : listOf('or', literals);
}

/** Both hold; beyond CONDITION_LITERALS_MAX only the first is kept. */
export function both(left: Condition, right: Condition): Condition {
  if (implies(left, right)) return left;
  if (implies(right, left)) return right;
  if (countLiterals(left) + countLiterals(right) > CONDITION_LITERALS_MAX) return left;
  const kept = partsOf('and', left).filter((part) => !implies(right, part));
  // Why the kept ones: a part common to both sides would otherwise vanish from both.
  const rest = listOf('and', kept);
  const added = partsOf('and', right).filter((part) => !implies(rest, part));
  return listOf('and', [...kept, ...added]);
}

/** One of them holds; beyond CONDITION_LITERALS_MAX nothing is known. */
export function either(left: Condition, right: Condition): Condition {
  if (implies(left, right)) return right;
  if (implies(right, left)) return left;
  const common = partsOf('and', left).filter((part) => partsOf('and', right).includes(part));
  if (common.length > 0)
    return allOf([...common, either(without(left, common), without(right, common))]);
  if (countLiterals(left) + countLiterals(right) > CONDITION_LITERALS_MAX) return ALL;
  const kept = partsOf('or', left).filter((part) => !implies(part, right));
  const rest = listOf('or', kept);
  const added = partsOf('or', right).filter((part) => !implies(part, rest));
  return listOf('or', [...kept, ...added]);
}

/** All hold; kept in this order, even if one implies another. */
export function allOf(conditions: readonly Condition[]): Condition {
  const parts = conditions.filter(({ kind }) => kind !== 'all');
  return parts.length === 0
    ? ALL
    : listOf(
        'and',
        parts.flatMap((part) => partsOf('and', part)),
      );
}

export function withoutImplied(condition: Condition, premise: Condition): Condition {
  const parts = partsOf('and', condition).filter((part) => !implies(premise, part));
  return parts.length === 0 ? ALL : listOf('and', parts);
}

function without(condition: Condition, parts: readonly Condition[]): Condition {
  return allOf(partsOf('and', condition).filter((part) => !parts.includes(part)));
}

function partsOf(kind: 'and' | 'or', condition: Condition): readonly Condition[] {
  return condition.kind === kind ? condition.children : [condition];
}

function listOf(kind: 'and' | 'or', children: readonly Condition[]): Condition {
  return children.length === 1 ? children[0]! : { kind, children };
}

/** Whether `left` is known to imply `right`. */
function implies(left: Condition, right: Condition): boolean {
  if (left === right) return true;
  if (left.kind === 'none' || right.kind === 'all') return true;
  if (left.kind === 'all' || right.kind === 'none') return false;
  if (left.kind === 'or') return left.children.every((child) => implies(child, right));
  if (right.kind === 'and') return right.children.every((child) => implies(left, child));
  if (left.kind === 'and' && left.children.some((child) => implies(child, right))) return true;
  if (right.kind === 'or') {
    // A few are compared one by one.
    return left.kind === 'literal' && right.children.length > 8
      ? containsOneOf(left.text, right.children)
      : right.children.some((child) => impliesPart(left, child));
  }
  return impliesPart(left, right);
}

/** As implies, fast for literals, the usual case. */
function impliesPart(left: Condition, right: Condition): boolean {
  if (right.kind !== 'literal') return implies(left, right);
  return left.kind === 'literal' && left.text.includes(right.text);
}

interface LiteralIndex {
  readonly texts: ReadonlySet<string>;
  readonly lengths: ReadonlySet<number>;
  readonly others: readonly Condition[];
}

const indexes = new WeakMap<readonly Condition[], LiteralIndex>();

/** Whether a text is known to satisfy one of many alternatives: looks its parts up among their literals. */
function containsOneOf(text: string, alternatives: readonly Condition[]): boolean {
  const { texts, lengths, others } = indexOf(alternatives);
  for (const length of lengths) {
    for (let start = 0; start + length <= text.length; start++)
      if (texts.has(text.slice(start, start + length))) return true;
  }
  return others.some((other) => implies({ kind: 'literal', text }, other));
}

function indexOf(alternatives: readonly Condition[]): LiteralIndex {
  const cached = indexes.get(alternatives);
  if (cached !== undefined) return cached;
  const others = alternatives.filter(({ kind }) => kind !== 'literal');
  const literals = alternatives.flatMap((one) => (one.kind === 'literal' ? [one.text] : []));
  const lengths = new Set(literals.map(({ length }) => length));
  const index = { texts: new Set(literals), lengths, others };
  indexes.set(alternatives, index);
  return index;
}

export function mapTexts(condition: Condition, change: (text: string) => string): Condition {
  if (condition.kind === 'literal') return { ...condition, text: change(condition.text) };
  if (condition.kind !== 'and' && condition.kind !== 'or') return condition;
  return { ...condition, children: condition.children.map((child) => mapTexts(child, change)) };
}

export function countLiterals(condition: Condition): number {
  if (condition.kind === 'literal') return 1;
  if (condition.kind !== 'and' && condition.kind !== 'or') return 0;
  return condition.children.reduce((sum, child) => sum + countLiterals(child), 0);
}

/** Canonical text: `and("foo", or("bar", "baz"))`, `ALL`, `NONE`; of each list only the first `partsMax`. */
export function printCondition(condition: Condition, partsMax = Infinity): string {
  switch (condition.kind) {
    case 'all':
      return 'ALL';
    case 'none':
      return 'NONE';
    case 'literal':
      return JSON.stringify(condition.text);
    default: {
      const { kind, children } = condition;
      const parts = children.slice(0, partsMax).map((child) => printCondition(child, partsMax));
      const left = children.length - parts.length;
      return `${kind}(${parts.join(', ')}${left > 0 ? `, and ${left} more` : ''})`;
    }
  }
}
