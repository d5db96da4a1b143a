// The events of a search as a response body: server-sent events or MessagePack frames, maybe compressed.

import type { EventStream, StreamEvent } from '../api/shapes/endpoint-services.ts';
import type { BodyStream } from './adapters/adapter.ts';
import type { StreamCoder } from './coding.ts';
import { pack } from './packer.ts';

/** Limit for a MessagePack frame in bytes. Its JSON is never shorter, so the JSON is limited. */
export const FRAME_SIZE_MAX = 16_777_216;

export interface Framing {
  readonly contentType: string;
  /** An event that is one line of JSON. */
  frame(json: Uint8Array): Uint8Array | Promise<Uint8Array>;
  readonly end: Uint8Array;
}

const DATA = Buffer.from('data: ');
const BLANK_LINE = Buffer.from('\n\n');

export const SERVER_SENT_EVENTS: Framing = {
  contentType: 'text/event-stream',
  frame: (json) => Buffer.concat([DATA, json, BLANK_LINE]),
  end: Buffer.from('data: [DONE]\n\n'),
};

export const MESSAGE_PACK_FRAMES: Framing = {
  contentType: 'application/x-msgpack; framing=u32be',
  async frame(json) {
    const packed = await pack(json);
    if (packed.byteLength > FRAME_SIZE_MAX)
      throw new Error(`frame of ${packed.byteLength} bytes, limit ${FRAME_SIZE_MAX}`);
    const framed = Buffer.allocUnsafe(4 + packed.byteLength);
    framed.writeUInt32BE(packed.byteLength);
    framed.set(packed, 4);
    return framed;
  },
  end: Buffer.alloc(4),
};

export interface EventBodyOptions {
  readonly framing: Framing;
  readonly coder: StreamCoder | undefined;
  /** Called before each event; an error ends the stream. */
  checkRights(): void | Promise<void>;
  toErrorObject(error: unknown): object;
  /** The search is over; its results may still be on their way. May be called twice. */
  onSearchEnd(): void;
  onClose(sentSize: number): void;
}

export class EventBody implements BodyStream {
  readonly #events: EventStream;
  readonly #options: EventBodyOptions;
  #isOver = false;
  #size = 0;

  constructor(events: EventStream, options: EventBodyOptions) {
    this.#events = events;
    this.#options = options;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#isOver) return undefined;
    const chunk = await this.#coded(await this.#nextChunk());
    this.#size += chunk.byteLength;
    return chunk;
  }

  async #coded(chunk: Uint8Array): Promise<Uint8Array> {
    const { coder } = this.#options;
    if (coder === undefined) return chunk;
    return this.#isOver ? await coder.encodeLast(chunk) : await coder.encode(chunk);
  }

  async #nextChunk(): Promise<Uint8Array> {
    try {
      const event = await this.#events.next();
      await this.#options.checkRights();
      if (event !== undefined) return await this.#options.framing.frame(this.#jsonOf(event));
      this.#endSearch();
      return this.#options.framing.end;
    } catch (error) {
      this.#endSearch();
      return await this.#options.framing.frame(this.#jsonOf({ error }));
    }
  }

  #jsonOf(event: StreamEvent): Uint8Array {
    if ('json' in event) return event.json;
    const error = this.#options.toErrorObject(event.error);
    return Buffer.from(JSON.stringify({ type: 'error', error }));
  }

  #endSearch(): void {
    this.#isOver = true;
    this.#events.close();
    this.#options.onSearchEnd();
  }

  close(): void {
    this.#events.close();
    this.#options.coder?.close();
    this.#options.onSearchEnd();
    this.#options.onClose(this.#size);
  }
}
