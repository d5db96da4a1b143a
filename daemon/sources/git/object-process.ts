// A long-lived git that answers single requests for type or content of an object of one repository. Used by one request at
// a time; object-pool.ts decides how many there are and when they end.

import { CatFile, knowsCommands } from './cat-file.ts';
import type { ObjectInfo } from './cat-file-parser.ts';
import { GIT_TIMEOUT_MS, type GitFailure } from './git.ts';
import { requireObjectId } from './names.ts';

/**
 * Bound: git's cache of delta bases; a repository could require any amount. Measured: 2026-11-21, 2 busy cores, 29,573
 * objects of git's own history (676 MB): 96 MB 3.0 s and 227 MB of memory, 24 MB 3.7 s and 147 MB, 8 MB 5.9 s and 128 MB.
 */
const SETTINGS = ['core.deltaBaseCacheLimit=24m'];

interface Answer {
  readonly info: ObjectInfo | undefined;
  readonly bytes: Buffer | undefined;
}

export class ObjectProcess {
  readonly repoPath: string;
  readonly startedAtMs = performance.now();
  /** The process for contents: the same one, unless git has no `--batch-command`. */
  readonly #infos: CatFile;
  readonly #contents: CatFile;
  readonly #gits: ReadonlySet<CatFile>;

  /**
   * Starts git; an unreadable repository shows at the first request. Tests say whether git has `--batch-command`.
   * Errors: GitError if git cannot be started.
   */
  static async start(repoPath: string, isNew?: boolean): Promise<ObjectProcess> {
    return new ObjectProcess(repoPath, isNew ?? (await knowsCommands()));
  }

  private constructor(repoPath: string, isNew: boolean) {
    this.repoPath = repoPath;
    const options = { repoPath, settings: SETTINGS, stallMs: GIT_TIMEOUT_MS, isKept: true };
    this.#infos = new CatFile([isNew ? '--batch-command' : '--batch-check'], options);
    this.#contents = isNew ? this.#infos : new CatFile(['--batch'], options);
    this.#gits = new Set([this.#infos, this.#contents]);
  }

  /** Whether the process runs and no answer is pending. */
  get isReady(): boolean {
    return this.#infos.isReady && this.#contents.isReady;
  }

  /** The object of a name without line breaks, as git resolves it; undefined if there is none. Errors: GitError. */
  info(name: string): Promise<ObjectInfo | undefined> {
    if (/[\n\0]/.test(name)) throw new TypeError('a name must not have line breaks');
    return this.#request('info', name).then(({ info }) => info);
  }

  /**
   * The bytes of an object; undefined if there is none. The caller owns them and has checked the size. Errors: GitError,
   * also for a damaged object.
   */
  contents(oid: string): Promise<Buffer | undefined> {
    requireObjectId(oid);
    return this.#request('contents', oid).then(({ bytes }) => bytes);
  }

  async #request(command: 'info' | 'contents', name: string): Promise<Answer> {
    const hasContent = command === 'contents';
    const line = this.#gits.size === 1 ? `${command} ${name}\n` : `${name}\n`;
    let answer: Answer = { info: undefined, bytes: undefined };
    await (hasContent ? this.#contents : this.#infos).request({
      count: 1,
      lines: [line],
      hasContent,
      onObject: (info, bytes) => (answer = { info, bytes }),
    });
    return answer;
  }

  /** Whether it keeps the event loop alive. */
  setRef(isRef: boolean): void {
    for (const git of this.#gits) git.setRef(isRef);
  }

  kill(failure: GitFailure): void {
    for (const git of this.#gits) git.kill(failure);
  }

  /** Runs `run`; aborting the signal ends the process. Errors: the reason of the signal; what `run` throws. */
  async useUntil<Value>(
    signal: AbortSignal,
    run: (process: ObjectProcess) => Promise<Value>,
  ): Promise<Value> {
    const onAbort = (): void => this.kill('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      return await run(this);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends git, by force if an answer is pending or it does not exit. */
  async close(): Promise<void> {
    await Promise.all([...this.#gits].map((git) => git.close()));
  }
}
