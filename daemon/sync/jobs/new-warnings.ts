// Filters the new warnings of a job. A repo that is kept up to date has a job for each commit with the same warnings;
// only the first one logs them.

export class NewWarnings {
  /** Warnings of the last job of each repo, by repoId. */
  readonly #last = new Map<number, ReadonlySet<string>>();

  /** The warnings that the previous job did not have, ignoring numbers in them. */
  fresh(repoId: number, warnings: readonly string[]): string[] {
    const before = this.#last.get(repoId);
    this.#last.set(repoId, new Set(warnings.map(keyOf)));
    return warnings.filter((warning) => before?.has(keyOf(warning)) !== true);
  }
}

function keyOf(warning: string): string {
  return warning.replaceAll(/\d+/g, '#');
}
