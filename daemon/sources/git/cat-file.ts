// One long-lived `git cat-file`: requests for objects of one repository, answered in order. Bulk reads use it through
// blob-reader.ts, single requests through object-process.ts.

import { CatFileParser, type ObjectInfo } from './cat-file-parser.ts';
import {
  GitError,
  gitVersion,
  startGit,
  type GitFailure,
  type GitOptions,
  type GitProcess,
} from './git.ts';

export interface CatFileOptions extends GitOptions {
  /** Git is ended if it writes nothing for this long while an answer is pending. */
  readonly stallMs: number;
  /** The bytes of objects may be kept. */
  readonly isKept: boolean;
}

/** A request for `count` objects. */
export interface Question {
  readonly count: number;
  /** Lines for git, written as fast as it reads them. */
  readonly lines: Iterable<string>;
  readonly hasContent: boolean;
  /** Called for each object in order; as `onObject` of the parser. */
  readonly onObject: (
    info: ObjectInfo | undefined,
    bytes: Buffer | undefined,
    index: number,
  ) => void;
}

interface OpenQuestion extends Question {
  index: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Whether git has `--batch-command`. Source: release notes of git 2.36. Errors: GitError if it cannot be started. */
export async function knowsCommands(): Promise<boolean> {
  const [major, minor] = await gitVersion();
  return major > 2 || (major === 2 && minor >= 36);
}

export class CatFile {
  readonly #git: GitProcess;
  readonly #stallTimer: NodeJS.Timeout;
  readonly #questions: OpenQuestion[] = [];
  /** Lines of requests not written yet. */
  readonly #unwritten: Iterable<string>[] = [];
  #isWriting = false;
  #failure: unknown;

  /** Starts git, which keeps the event loop alive until `close` or `setRef(false)`. */
  constructor(modes: readonly string[], { stallMs, isKept, ...options }: CatFileOptions) {
    this.#git = startGit(['cat-file', ...modes], { ...options, timeoutMs: 0 });
    this.#stallTimer = setTimeout(() => {
      if (this.#questions.length > 0) this.kill('timeout');
    }, stallMs).unref();
    const parser = new CatFileParser({
      hasContent: () => this.#current().hasContent,
      isKept,
      onObject: (info, bytes) => this.#take(info, bytes),
    });
    this.#git.stdout.on('data', (chunk: Buffer) => {
      this.#stallTimer.refresh();
      try {
        parser.push(chunk);
      } catch (error) {
        this.#fail(error);
        this.kill('aborted');
      }
    });
    this.#git.ended.then(
      () => this.#fail(new Error('git cat-file: ended')),
      (error: unknown) => this.#fail(error),
    );
  }

  /** Whether it accepts requests and none is pending. */
  get isReady(): boolean {
    return this.#failure === undefined && this.#questions.length === 0;
  }

  /** Resolves when all objects have arrived. Errors: GitError; what `onObject` throws. No request is accepted afterwards. */
  request(question: Question): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (question.count === 0) return Promise.resolve();
    this.#stallTimer.refresh();
    return new Promise((resolve, reject) => {
      this.#questions.push({ ...question, index: 0, resolve, reject });
      this.#unwritten.push(question.lines);
      if (!this.#isWriting) void this.#write();
    });
  }

  /** Whether it keeps the event loop alive. */
  setRef(isRef: boolean): void {
    this.#git.setRef(isRef);
  }

  kill(failure: GitFailure): void {
    this.#git.kill(failure);
    this.#fail(new GitError('cat-file', failure, undefined, ''));
  }

  /** Ends git, by force if an answer is pending or it does not exit. Open requests fail. */
  async close(): Promise<void> {
    const killer = setTimeout(() => this.kill('aborted'), 2000);
    if (this.#questions.length > 0) this.kill('aborted');
    else {
      this.#fail(new Error('git cat-file: closed'));
      this.#git.stdin.end();
    }
    await this.#git.ended.catch(() => undefined);
    clearTimeout(killer);
  }

  /**
   * Invariant: this never waits for answers, and answers are consumed as they arrive, so neither side can block the other
   * forever.
   */
  async #write(): Promise<void> {
    const { stdin, ended } = this.#git;
    this.#isWriting = true;
    for (let lines = this.#unwritten.shift(); lines !== undefined; lines = this.#unwritten.shift())
      for (const text of lines) {
        if (this.#failure !== undefined) return;
        if (stdin.write(text)) continue;
        const drained = new Promise((resolve) => stdin.once('drain', resolve));
        await Promise.race([drained, ended.catch(() => undefined)]);
      }
    this.#isWriting = false;
  }

  #current(): OpenQuestion {
    const open = this.#questions[0];
    if (open === undefined) throw new Error('git cat-file: answer without question');
    return open;
  }

  #take(info: ObjectInfo | undefined, bytes: Buffer | undefined): void {
    const open = this.#current();
    open.onObject(info, bytes, open.index);
    open.index++;
    if (open.index < open.count) return;
    this.#questions.shift();
    open.resolve();
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    clearTimeout(this.#stallTimer);
    for (const open of this.#questions.splice(0)) open.reject(this.#failure);
  }
}
