// Counts by rule how much is ignored: an index job reports this for users who miss files (API.md 13.3). An ignored folder
// is not entered and counts as one.

/** Rule, `sub/.gitignore: *.o`, to number of files and folders, the largest first. */
export type IgnoredCounts = Readonly<Record<string, number>>;

/** Bound for a tree with thousands of rules. */
const RULES_MAX = 50;
const OTHERS = 'other rules';

export class IgnoredCounter {
  readonly #counts: Map<string, number>;

  /** @param counted  by rule, so far */
  constructor(counted?: ReadonlyMap<string, number>) {
    this.#counts = new Map(counted);
  }

  get all(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  add(rule: string): void {
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
  }

  /** The rules that exclude most, and the sum of the others. */
  counts(): IgnoredCounts {
    const rows = [...this.#counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const rest = rows.splice(RULES_MAX).reduce((sum, [, count]) => sum + count, 0);
    if (rest > 0) rows.push([OTHERS, rest]);
    return Object.fromEntries(rows);
  }
}

export function totalOf(counts: IgnoredCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
