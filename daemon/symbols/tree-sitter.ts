// The engine over tree-sitter: each thread of a pool parses one content at a time. A thread that does not answer
// in time is terminated; one that says it is spent is replaced.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Engine } from './engine.ts';
import type { ExtractionFailure, Extraction } from './found.ts';
import { type Reader, ReaderPool } from './pool.ts';
import { grammarOf } from './queries.ts';
import type { TreeAnswer, TreeRequest, TreeWorkerData } from './tree-messages.ts';

export interface TreeSitterOptions {
  /** Most threads. */
  readonly concurrency: number;
  /** For one content. */
  readonly timeoutMs: number;
  /** Bytes that a thread may take: its parser, and as much again for its objects. */
  readonly memoryMax: number;
}

/** Largest content that is parsed: its tree takes up to 50 times its size. */
const CONTENT_SIZE_MAX = 16 << 20;

const isSource = import.meta.url.endsWith('.ts');

/** Where the build puts the grammars. */
function grammarFile(grammar: string): string {
  const folder = isSource ? '../../build/grammars/' : '../../grammars/';
  return fileURLToPath(new URL(`${folder}${grammar}.wasm`, import.meta.url));
}

/** Undefined: the grammars are not there. */
export function openTreeSitterEngine(options: TreeSitterOptions): Engine | undefined {
  if (!existsSync(grammarFile('c'))) return undefined;
  const modules = new Map<string, Promise<WebAssembly.Module>>();
  const moduleOf = (grammar: string): Promise<WebAssembly.Module> => {
    let found = modules.get(grammar);
    if (found === undefined) {
      found = readFile(grammarFile(grammar)).then((bytes) => WebAssembly.compile(bytes));
      modules.set(grammar, found);
    }
    return found;
  };
  const pool = new ReaderPool(options.concurrency, () => new TreeThread(options));
  return {
    knows: (language) => grammarOf(language) !== undefined,
    async extract(language, content): Promise<Extraction> {
      const grammar = grammarOf(language);
      if (grammar === undefined) return { symbols: [] };
      if (content.length > CONTENT_SIZE_MAX) {
        const detail = `${content.length} bytes, limit ${CONTENT_SIZE_MAX}`;
        return { failure: 'memory', detail };
      }
      const module = await moduleOf(grammar);
      return pool.use((thread) => thread.read({ language, grammar, module, content }));
    },
    close: () => pool.close(),
  };
}

type Outcome = TreeAnswer['outcome'];

class TreeThread implements Reader {
  readonly #worker: Worker;
  readonly #timeoutMs: number;
  readonly #known = new Set<string>();
  #settle: ((outcome: Outcome) => void) | undefined;
  #isDead = false;

  constructor({ timeoutMs, memoryMax }: TreeSitterOptions) {
    this.#timeoutMs = timeoutMs;
    const workerData: TreeWorkerData = { memoryMax };
    this.#worker = new Worker(new URL(`./tree-worker.${isSource ? 'ts' : 'js'}`, import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memoryMax / (1 << 20)) },
    });
    this.#worker.on('message', ({ outcome, isSpent }: TreeAnswer) => {
      if (isSpent) this.#end(outcome);
      else this.#answer(outcome);
    });
    this.#worker.on('error', (error: Error & { code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#end({
        failure: isMemory ? 'memory' : 'crash',
        detail: `tree-sitter: ${error.message}`,
      });
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Errors: none; whatever goes wrong is the outcome. */
  read(request: TreeRequest): Promise<Outcome> {
    const isKnown = this.#known.has(request.grammar);
    this.#known.add(request.grammar);
    // Why a copy: it is moved to the thread.
    const content = new Uint8Array(request.content);
    const message = { ...request, content, module: isKnown ? undefined : request.module };
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const detail = `not done after ${this.#timeoutMs} ms`;
        this.#end({ failure: 'timeout', detail });
      }, this.#timeoutMs);
      this.#settle = (outcome) => {
        clearTimeout(timer);
        resolve(outcome);
      };
      this.#worker.postMessage(message, [content.buffer]);
    });
  }

  #answer(outcome: Outcome): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(outcome);
  }

  #end(outcome: Outcome): void {
    this.#isDead = true;
    void this.#worker.terminate();
    this.#answer(outcome);
  }

  async close(): Promise<void> {
    this.#isDead = true;
    const closed: ExtractionFailure = { failure: 'crash', detail: 'closed' };
    await this.#worker.terminate();
    this.#answer(closed);
  }
}
