// A proxy before a daemon that lets the events of streamed answers through one by one, when a test says so: what a slow search
// looks like to a page. Everything else goes through as it is.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { openProxy } from './proxy.ts';

export interface SlowProxy {
  readonly url: string;
  /** How many events may pass from now on, in all streams together; Infinity: all. */
  readonly letPass: (count: number) => void;
  /** Streams that the page ended before their end. */
  readonly abandoned: { count: number };
}

/** The bodies of a stream, cut behind each event. */
async function* eventsOf(body: IncomingMessage): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of body.setEncoding('utf8')) {
    text += String(chunk);
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) yield `${event}\n\n`;
  }
}

/** Opens the proxy before a daemon. It is closed at the end of the file. */
export async function openSlowProxy(url: string): Promise<SlowProxy> {
  const gate = { allowed: 0, waiting: [] as (() => void)[] };
  const abandoned = { count: 0 };
  const mayPass = async (response: ServerResponse): Promise<void> => {
    while (gate.allowed <= 0)
      await new Promise<void>((resolve) => {
        gate.waiting.push(resolve);
      });
    // One that was left needs no room.
    if (!response.destroyed) gate.allowed--;
  };
  const pass = async (_: string, reply: IncomingMessage, response: ServerResponse) => {
    const isStream = reply.headers['content-type']?.startsWith('text/event-stream') === true;
    if (!isStream) {
      reply.pipe(response);
      return;
    }
    response.flushHeaders();
    for await (const event of eventsOf(reply)) {
      // What only says how far the search is comes by the clock, and not each time.
      if (!event.includes('"files":[]')) await mayPass(response);
      if (response.destroyed) return;
      response.write(event);
    }
    response.end();
  };
  return {
    url: await openProxy({ url, pass, onAbandoned: () => abandoned.count++ }),
    letPass: (count) => {
      gate.allowed = count;
      // Why all: behind one that is read another may wait that was left. The last one first, as that is mostly the one that is read.
      for (const wake of gate.waiting.splice(0).toReversed()) wake();
    },
    abandoned,
  };
}
