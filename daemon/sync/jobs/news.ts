// Which warnings of a job are new. An index that follows has a job for each commit, and what somebody may not have meant is
// said once, not with each of them.

export class News {
  /** What the last job of each repo warned of, by repoId. */
  readonly #last = new Map<number, ReadonlySet<string>>();

  /** Those of all warnings of a job that the job before did not give, whatever numbers they tell. */
  fresh(repoId: number, warnings: readonly string[]): string[] {
    const before = this.#last.get(repoId);
    this.#last.set(repoId, new Set(warnings.map(keyOf)));
    return warnings.filter((warning) => before?.has(keyOf(warning)) !== true);
  }
}

function keyOf(warning: string): string {
  return warning.replaceAll(/\d+/g, '#');
}
