// Which warnings of a job are new. A repo that is kept current has a job for each commit, and each would warn of the same
// things; a warning is logged by the first of them alone.

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
