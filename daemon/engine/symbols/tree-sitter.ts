// The tree-sitter engine: each process of a pool parses one content at a time.
// Why processes: a fatal error of V8 ends only that process. Measured: 2026-11-21: the daemon compiles WebAssembly with the
// optimising compiler (engine/host/core.ts), 10 s for the grammar of Swift; a process takes 1 s.

import { fileURLToPath } from 'node:url';
import { startEngine } from './confine.ts';
import { EngineProcess, ProcessPool } from './engine-process.ts';
import type { Engine, EngineLimits, Extraction, ExtractionFailure, Found } from './found.ts';
import { grammarOf, parserVersion } from './grammars.ts';
import { TEXT_SIZE_MAX } from './text.ts';
import { frameOf, FrameReader, type TreeAnswer, type TreeRequest } from './tree-messages.ts';
import { threadFile } from '../../base/program-files.ts';

/** Undefined: the grammars are missing. The objects of a process get `memoryMax` again. */
export function openTreeSitterEngine(options: EngineLimits): Engine | undefined {
  if (parserVersion() === undefined) return undefined;
  const pool = new ProcessPool(options.concurrency, () => new TreeProcess(options));
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

class TreeProcess extends EngineProcess<Found> {
  constructor({ timeoutMs, memoryMax }: EngineLimits) {
    super(start(memoryMax), timeoutMs);
    const answers = new FrameReader<TreeAnswer>();
    this.child.stdout.on('data', (bytes: Buffer) => {
      for (const { outcome, isSpent } of answers.take(bytes)) {
        if (isSpent) this.end(outcome);
        else this.settle(outcome);
      }
    });
  }

  read(request: TreeRequest): Promise<Extraction> {
    return this.request(() => this.child.stdin.write(frameOf(request)));
  }

  protected override crashOf(detail: string): ExtractionFailure {
    return { failure: 'crash', detail: `tree-sitter: ${detail}` };
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
