// A process of a symbol engine, which reads one content at a time, and a pool of them. Dead after a failure; a dead one is
// replaced when there is work.

import { Slots } from '../../base/slots.ts';
import { type Child, killChild } from '../../base/spawn.ts';
import { type startEngine, watchTime } from './confine.ts';
import type { ExtractionFailure } from './found.ts';

export abstract class EngineProcess<Answer> {
  protected readonly child: Child;
  readonly #timeoutMs: number;
  readonly #ended: Promise<void>;
  #settle: ((outcome: Answer | ExtractionFailure) => void) | undefined;
  #isDead = false;

  constructor({ child, ended }: ReturnType<typeof startEngine>, timeoutMs: number) {
    this.child = child;
    this.#timeoutMs = timeoutMs;
    this.#ended = ended.then((detail) => this.end(this.crashOf(detail)));
  }

  /** @param detail  how the process ended */
  protected abstract crashOf(detail: string): ExtractionFailure;

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Sends a request, and resolves with its outcome. Errors: none; failures are outcomes. */
  protected request(send: () => void): Promise<Answer | ExtractionFailure> {
    return new Promise((resolve) => {
      const detail = `time limit of ${this.#timeoutMs} ms exceeded`;
      const endWatch = watchTime(this.child, this.#timeoutMs, () =>
        this.end({ failure: 'timeout', detail }),
      );
      this.#settle = (outcome) => {
        endWatch();
        resolve(outcome);
      };
      send();
    });
  }

  protected settle(outcome: Answer | ExtractionFailure): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(outcome);
  }

  /** Ends the process, and the running request with this outcome. */
  protected end(outcome: Answer | ExtractionFailure): void {
    this.#isDead = true;
    killChild(this.child);
    this.child.stdout.destroy();
    this.settle(outcome);
  }

  /** Ends the process; resolves when it has exited. A running read fails. */
  async close(): Promise<void> {
    this.end({ failure: 'crash', detail: 'closed' });
    await this.#ended;
  }
}

export class ProcessPool<Process extends Pick<EngineProcess<unknown>, 'isDead' | 'close'>> {
  readonly #start: () => Process;
  readonly #idle: Process[] = [];
  readonly #all = new Set<Process>();
  readonly #slots: Slots;
  #isClosed = false;

  constructor(count: number, start: () => Process) {
    this.#slots = new Slots({ runningMax: count });
    this.#start = start;
  }

  /** Errors: those of the work; its own error once closed. */
  use<T>(work: (process: Process) => Promise<T>): Promise<T> {
    return this.#slots.run('', undefined, () => this.#useOne(work));
  }

  async #useOne<T>(work: (process: Process) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error('the pool is closed');
    const process = this.#take();
    try {
      return await work(process);
    } finally {
      if (process.isDead) this.#all.delete(process);
      else this.#idle.push(process);
    }
  }

  #take(): Process {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.isDead) return idle;
      this.#all.delete(idle);
    }
    const process = this.#start();
    this.#all.add(process);
    return process;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((process) => process.close()));
  }
}
