// One long-lived `git cat-file` that answers questions about the objects of one repository: what is it, what is in it.
// Answers come in the order of the questions. Used by one request at a time; how many processes there are, who gets
// which, and when they end is decided by object-pool.ts.

import {
  AnswerParser,
  type ObjectContent,
  type ObjectInfo,
  type Question,
} from './object-answers.ts';
import {
  GIT_TIMEOUT_MS,
  GitError,
  gitVersion,
  startGit,
  type GitFailure,
  type GitProcess,
} from './git.ts';

const CLOSE_TIMEOUT_MS = 1000;
/**
 * Bound: what git keeps of objects that others are deltas of; a repository could ask for any amount.
 * Measured: 2026-11-21, 2 busy cores, 29,573 objects of git's own history (676 MB): 96 MB 3.0 s and 227 MB of memory,
 * 24 MB 3.7 s and 147 MB, 8 MB 5.9 s and 128 MB.
 */
const SETTINGS = ['core.deltaBaseCacheLimit=24m'];
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export class ObjectProcess {
  readonly repoPath: string;
  readonly startedAtMs = performance.now();
  readonly #checks: Channel;
  readonly #contents: Channel;
  readonly #commands: { readonly info: string; readonly contents: string };

  /**
   * Starts git. That it cannot read the repository shows with the first question.
   *
   * @param knowsCommands  for tests: whether git has `--batch-command`; default: what its version says
   *
   * Errors: GitError if git cannot be started at all.
   */
  static async start(repoPath: string, knowsCommands?: boolean): Promise<ObjectProcess> {
    // Source: release notes of git 2.36, `cat-file --batch-command`.
    const [major, minor] = await gitVersion();
    const isNew = knowsCommands ?? (major > 2 || (major === 2 && minor >= 36));
    return new ObjectProcess(repoPath, isNew);
  }

  private constructor(repoPath: string, knowsCommands: boolean) {
    this.repoPath = repoPath;
    if (knowsCommands) {
      this.#checks = this.#contents = new Channel(repoPath, '--batch-command');
      this.#commands = { info: 'info ', contents: 'contents ' };
    } else {
      this.#checks = new Channel(repoPath, '--batch-check');
      this.#contents = new Channel(repoPath, '--batch');
      this.#commands = { info: '', contents: '' };
    }
  }

  /** Whether it may be asked: it runs and owes no answer. */
  get isReady(): boolean {
    return this.#channels.every((channel) => channel.isReady);
  }

  get #channels(): Channel[] {
    return this.#checks === this.#contents ? [this.#checks] : [this.#checks, this.#contents];
  }

  /**
   * What a name stands for; undefined if there is no such object.
   *
   * @param name  anything git can resolve, without line breaks
   *
   * Errors: GitError.
   */
  info(name: string): Promise<ObjectInfo | undefined> {
    if (/[\n\0]/.test(name)) throw new TypeError('a name must not have line breaks');
    return new Promise((onAnswer, onFailure) => {
      this.#checks.ask(this.#commands.info + name, { kind: 'info', onAnswer }, onFailure);
    });
  }

  /**
   * The object of this id; undefined if there is none. The caller owns the bytes and has made sure of the size.
   *
   * Errors: GitError, also for a damaged object.
   */
  contents(oid: string): Promise<ObjectContent | undefined> {
    if (!OBJECT_ID.test(oid)) throw new TypeError(`not an object id: ${oid}`);
    return new Promise((onAnswer, onFailure) => {
      this.#contents.ask(this.#commands.contents + oid, { kind: 'content', onAnswer }, onFailure);
    });
  }

  /** Whether it keeps the event loop alive. */
  hold(isHeld: boolean): void {
    for (const channel of this.#channels) channel.git.hold(isHeld);
  }

  kill(failure: GitFailure): void {
    for (const channel of this.#channels) channel.kill(failure);
  }

  /** Ends git, by force if it owes an answer or does not go. */
  async close(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.close()));
  }
}

/** One git process. */
class Channel {
  readonly git: GitProcess;
  readonly #parser = new AnswerParser();
  readonly #stallTimer: NodeJS.Timeout;
  /** Of those who wait, in any order. */
  readonly #onFailures = new Set<(error: unknown) => void>();
  #failure: unknown;

  constructor(repoPath: string, mode: string) {
    this.git = startGit(['cat-file', mode], { repoPath, timeoutMs: 0, settings: SETTINGS });
    // Bound: git that neither answers nor ends, whatever the deadlines of those who wait.
    this.#stallTimer = setTimeout(() => {
      if (this.#parser.isWaiting) this.kill('timeout');
    }, GIT_TIMEOUT_MS).unref();
    this.git.stdout.on('data', (piece: Buffer) => {
      this.#stallTimer.refresh();
      try {
        this.#parser.push(piece);
      } catch (error) {
        this.#fail(error);
        this.kill('aborted');
      }
    });
    this.git.ended.then(
      () => this.#fail(new Error('git cat-file: ended')),
      (error: unknown) => this.#fail(error),
    );
  }

  get isReady(): boolean {
    return this.#failure === undefined && !this.#parser.isWaiting;
  }

  ask(line: string, question: Question, onFailure: (error: unknown) => void): void {
    if (this.#failure !== undefined) {
      onFailure(this.#failure);
      return;
    }
    this.#stallTimer.refresh();
    this.#onFailures.add(onFailure);
    const { kind, onAnswer } = question;
    const done = (): void => void this.#onFailures.delete(onFailure);
    this.#parser.expect(
      kind === 'info'
        ? { kind, onAnswer: (info) => (done(), onAnswer(info)) }
        : { kind, onAnswer: (content) => (done(), onAnswer(content)) },
    );
    this.git.stdin.write(`${line}\n`);
  }

  kill(failure: GitFailure): void {
    this.git.kill(failure);
    this.#fail(new GitError('cat-file', failure, undefined, ''));
  }

  async close(): Promise<void> {
    const killer = setTimeout(() => this.kill('aborted'), CLOSE_TIMEOUT_MS);
    if (this.#parser.isWaiting) this.kill('aborted');
    else {
      this.#fail(new Error('git cat-file: closed'));
      this.git.stdin.end();
    }
    await this.git.ended.catch(() => undefined);
    clearTimeout(killer);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    clearTimeout(this.#stallTimer);
    for (const onFailure of this.#onFailures) onFailure(this.#failure);
    this.#onFailures.clear();
  }
}
