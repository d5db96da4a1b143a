// MessagePack for bodies of any size. Making it of a large one takes long in one go, so that is done on a thread of its
// own, one body after the other; the thread ends when it has nothing to do, and what it took goes back with it.

import { Worker } from 'node:worker_threads';
import { allBytes } from '../api/lazy-bytes.ts';
import type { LazyBytes } from '../api/lazy-bytes.ts';
import { gatherBytes } from './gather-bytes.ts';
import { jsonToMessagePack } from './message-pack.ts';

/** Bytes of JSON. Measured: 2026-11-22: 128 KB take 2 to 4 ms. */
const HERE_SIZE_MAX = 131_072;
const IDLE_MS = 1000;

export type PackAnswer = { readonly packed: Uint8Array<ArrayBuffer> } | { readonly error: string };

interface Pending {
  readonly resolve: (packed: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/** The thread, and who waits for it, in the order of asking. */
class Packer {
  readonly #pending: Pending[] = [];
  #worker: Worker | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  /** Takes over the memory of `json`. Errors: rejects if the text is not JSON, or the thread dies. */
  pack(json: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    clearTimeout(this.#idleTimer);
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(json, [json.buffer]);
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }));
  }

  #start(): Worker {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./pack-worker.${extension}`, import.meta.url));
    worker.on('message', (answer: PackAnswer) => this.#settle(answer));
    worker.on('error', () => {}); // 'exit' follows
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
      const error = new Error('the thread that makes MessagePack died');
      for (const { reject } of this.#pending.splice(0)) reject(error);
    });
    return worker;
  }

  #settle(answer: PackAnswer): void {
    const next = this.#pending.shift();
    if ('packed' in answer) next?.resolve(answer.packed);
    else next?.reject(new Error(answer.error));
    if (this.#pending.length > 0) return;
    this.#worker?.unref();
    this.#idleTimer = setTimeout(() => this.#rest(), IDLE_MS).unref();
  }

  #rest(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}

const packer = new Packer();

/** The value of a JSON text as MessagePack. Errors: rejects if the text is not JSON. */
export async function pack(json: Uint8Array | LazyBytes): Promise<Uint8Array> {
  if (json.byteLength <= HERE_SIZE_MAX) return jsonToMessagePack(allBytes(json));
  return await packer.pack(await gatherBytes(json));
}
