// The tree-sitter engine: each process of a pool parses one content at a time.
// Why processes: a fatal error of V8 ends only that process. Measured: 2026-11-21: the daemon compiles WebAssembly with the
// optimising compiler (engine/host/core.ts), 10 s for the grammar of Swift; a process takes 1 s.

import { fileURLToPath } from 'node:url';
import { type Child, killChild } from '../../base/spawn.ts';
import { startEngine, watchTime } from './confine.ts';
import type { Engine, EngineLimits, Extraction } from './found.ts';
import { grammarOf, parserVersion } from './grammars.ts';
import { TEXT_SIZE_MAX } from './text.ts';
import { type Reader, ReaderPool } from './pool.ts';
import { frameOf, FrameReader, type TreeAnswer, type TreeRequest } from './tree-messages.ts';
import { threadFile } from '../../base/program-files.ts';

/** Undefined: the grammars are missing. The objects of a process get `memoryMax` again. */
export function openTreeSitterEngine(options: EngineLimits): Engine | undefined {
  if (parserVersion() === undefined) return undefined;
  const pool = new ReaderPool(options.concurrency, () => new TreeProcess(options));
  return {
    knows: (language) => grammarOf(language) !== undefined,
    async extract(language, content): Promise<Extraction> {
      const grammar = grammarOf(language);
      if (grammar === undefined) return { symbols: [] };
      if (content.length > TEXT_SIZE_MAX) {
        const detail = `too large for tree-sitter: ${content.length} bytes, limit ${TEXT_SIZE_MAX}`;
        return { failure: 'memory', detail };
      }
      const request = { language, grammar, content };
      const first = await pool.use((process) => process.read(request));
      const isCrash = 'failure' in first && first.failure === 'crash';
      return isCrash ? pool.use((process) => process.read(request)) : first;
    },
    close: () => pool.close(),
  };
}

class TreeProcess implements Reader {
  readonly #child: Child;
  readonly #timeoutMs: number;
  readonly #ended: Promise<void>;
  #settle: ((outcome: Extraction) => void) | undefined;
  #isDead = false;

  constructor({ timeoutMs, memoryMax }: EngineLimits) {
    this.#timeoutMs = timeoutMs;
    const { child, ended } = start(memoryMax);
    this.#child = child;
    this.#ended = ended.then((detail) =>
      this.#end({ failure: 'crash', detail: `tree-sitter: ${detail}` }),
    );
    const answers = new FrameReader<TreeAnswer>();
    this.#child.stdout.on('data', (bytes: Buffer) => {
      for (const { outcome, isSpent } of answers.take(bytes)) {
        if (isSpent) this.#end(outcome);
        else this.#answer(outcome);
      }
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Errors: none; failures are outcomes. */
  read(request: TreeRequest): Promise<Extraction> {
    return new Promise((resolve) => {
      const endWatch = watchTime(this.#child, this.#timeoutMs, () => {
        const detail = `time limit of ${this.#timeoutMs} ms exceeded`;
        this.#end({ failure: 'timeout', detail });
      });
      this.#settle = (outcome) => {
        endWatch();
        resolve(outcome);
      };
      this.#child.stdin.write(frameOf(request));
    });
  }

  #answer(outcome: Extraction): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(outcome);
  }

  #end(outcome: Extraction): void {
    this.#isDead = true;
    killChild(this.#child);
    this.#answer(outcome);
  }

  /** Ends the process; resolves when it has exited. A running read fails. */
  async close(): Promise<void> {
    this.#end({ failure: 'crash', detail: 'closed' });
    await this.#ended;
  }
}

function start(memoryMax: number): ReturnType<typeof startEngine> {
  const heapMib = Math.ceil(memoryMax / (1 << 20));
  const node = [process.execPath, `--max-old-space-size=${heapMib}`];
  const program = fileURLToPath(threadFile('tree-program'));
  const cpuSecondsMax = 600;
  const args = [program, String(memoryMax), String(cpuSecondsMax * 1e6)];
  return startEngine([...node, ...args], { cpuSecondsMax });
}
