// Converts bodies to MessagePack: large ones in a worker thread, which exits when idle to free its memory.

import { Worker } from 'node:worker_threads';
import { allBytes, gatherBytes, type LazyBytes } from '../base/lazy-bytes.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import { jsonToMessagePack } from './message-pack.ts';
import { threadFile } from '../base/program-files.ts';

const IDLE_MS = 1000;
/** MB; a body that needs more ends the thread. Measured 2026-11-22: 64 MB of JSON, the most allowed, take 190. */
const HEAP_MB_MAX = 1024;

export type PackAnswer = { readonly packed: Uint8Array<ArrayBuffer> } | { readonly error: string };

interface Pending {
  readonly resolve: (packed: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/** A thread and its pending requests, in order. */
interface Lane {
  readonly worker: Worker;
  readonly pending: Pending[];
}

export class Packer {
  readonly #heapMb: number;
  #lane: Lane | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(heapMb = HEAP_MB_MAX) {
    this.#heapMb = heapMb;
  }

  /** Takes ownership of the memory of `json`. Rejects if the text is not JSON; SERVER_OVERLOADED if the thread dies. */
  pack(json: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    clearTimeout(this.#idleTimer);
    const { worker, pending } = (this.#lane ??= this.#start());
    worker.ref();
    worker.postMessage(json, [json.buffer]);
    return new Promise((resolve, reject) => pending.push({ resolve, reject }));
  }

  #start(): Lane {
    const worker = new Worker(threadFile('pack-worker'), {
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMb },
    });
    // Its own list: an idle thread may exit while the next one is already working.
    const lane: Lane = { worker, pending: [] };
    worker.on('message', (answer: PackAnswer) => this.#settle(lane, answer));
    worker.on('error', () => {}); // 'exit' follows
    worker.on('exit', () => {
      if (this.#lane === lane) this.#lane = undefined;
      for (const { reject } of lane.pending.splice(0))
        reject(
          new ApiError(
            'SERVER_OVERLOADED',
            'There is not enough memory to encode this as MessagePack.',
          ),
        );
    });
    return lane;
  }

  #settle({ worker, pending }: Lane, answer: PackAnswer): void {
    const next = pending.shift();
    if ('packed' in answer) next?.resolve(answer.packed);
    else next?.reject(new Error(answer.error));
    if (pending.length > 0) return;
    worker.unref();
    this.#idleTimer = setTimeout(() => this.#rest(), IDLE_MS).unref();
  }

  #rest(): void {
    const lane = this.#lane;
    this.#lane = undefined;
    void lane?.worker.terminate();
  }
}

const packer = new Packer();

/** Errors: as `Packer.pack`. */
export async function pack(json: Uint8Array | LazyBytes, clientKey = ''): Promise<Uint8Array> {
  // Bytes of JSON. Measured: 2026-11-22: 128 KB take 2 to 4 ms.
  if (json.byteLength <= 131_072) return jsonToMessagePack(allBytes(json));
  return await packer.pack(await gatherBytes(json, clientKey));
}
