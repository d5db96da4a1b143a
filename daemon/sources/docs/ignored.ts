// How much rules leave out, counted by rule: what an index job tells when somebody misses files (API.md 13.3). A folder
// that a rule leaves out is not looked into and counts as one.

/** Rule, `sub/.gitignore: *.o`, to number of files and folders, the largest first. */
export type IgnoredCounts = Readonly<Record<string, number>>;

/** Bound on what is kept of a tree with thousands of rules. */
const RULES_MAX = 50;
const OTHERS = 'other rules';

export class IgnoredCounter {
  readonly #counts = new Map<string, number>();

  add(rule: string): void {
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
  }

  /** The rules that leave out most, and the others as one. */
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
