// The attacks: what a single caller with a key may do, and one without credential. Each ends with its crew's signal.

import {
  BODY_SIZE_MAX,
  COSTLY_EXPRESSIONS,
  bigSourceCall,
  bodyCalls,
  deepCalls,
  endpointCalls,
  filterCall,
  longQueryCalls,
  packedCalls,
  pick,
  regexCall,
  worstExpressions,
} from './calls.ts';
import type { NamedCall } from './calls.ts';
import { type Crew, pause } from './crew.ts';
import type { World } from './world.ts';

export interface Scene {
  readonly crew: Crew;
  readonly world: World;
  readonly scaled: (count: number) => number;
  /** Attributes what is measured from now on. */
  readonly blame: (name: string) => void;
}

export interface Attack {
  readonly name: string;
  readonly why: string;
  /** Guests may not search: the attack has no key. */
  readonly isClosed?: true;
  /** Not for a time, but until it is complete. */
  readonly isOnce?: true;
  readonly run: (scene: Scene) => Promise<void>;
}

const NAME_SIZE_MAX = 40;
const WAITING_REQUEST = 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n';

const BODY_PART = Buffer.alloc(1 << 16, 'x');

/** Sends all but the last byte of a body of `size` bytes. */
function keepBodyOpen(crew: Crew, size: number): void {
  const head = 'POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  const parts = Array.from({ length: Math.ceil(size / BODY_PART.length) }, (_, i) =>
    BODY_PART.subarray(0, Math.min(BODY_PART.length, size - 1 - i * BODY_PART.length)),
  );
  crew.keepOpen([`${head}Content-Length: ${size}\r\n\r\n`, ...parts]);
}

async function vanish({ crew, world }: Scene, index: number): Promise<void> {
  for (let round = 0; !crew.signal.aborted; round++) {
    const { call } = pick(endpointCalls(world, index + round), index + round);
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), (index * 7 + round * 13) % 50);
    await crew.send(call, { end: end.signal });
    clearTimeout(timer);
    await pause(5, crew.signal);
  }
}

function expressionCall(text: string, matches: number): NamedCall {
  return { name: text.slice(0, NAME_SIZE_MAX), call: regexCall(text, { matches }) };
}

function everyCall(world: World, scaled: (count: number) => number): NamedCall[] {
  const source = { name: 'GET /api/source, 24 MB', call: bigSourceCall(world) };
  return [
    ...endpointCalls(world, 0),
    source,
    ...deepCalls(world),
    ...[0, 1, 2].map((i) => filterCall(i, scaled)),
    ...longQueryCalls(),
    ...packedCalls(world),
    ...bodyCalls(),
    ...COSTLY_EXPRESSIONS.slice(0, scaled(8)).map((text) => expressionCall(text, 100_000)),
    ...worstExpressions()
      .slice(0, scaled(64))
      .map((text) => expressionCall(text, 100)),
  ];
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'costly searches',
    why: 'one key, 32 connections, expressions over everything',
    run: ({ crew, scaled }) =>
      crew.loop(scaled(32), (i) => regexCall(pick(COSTLY_EXPRESSIONS, i), { contextLines: i % 3 })),
  },
  {
    name: 'worst expressions',
    why: 'one key, 16 connections, 64 expressions that are costly to compile or to run',
    run: ({ crew, scaled }) => {
      const expressions = worstExpressions();
      return crew.loop(scaled(16), (i) => regexCall(pick(expressions, i), { matches: 100 }));
    },
  },
  {
    name: 'file queries',
    why: '4 clients, 1,900 file expressions in a query of 49 KB, 2,000 symbol expressions',
    run: ({ crew, scaled }) => crew.loop(scaled(4), (i) => filterCall(i, scaled).call),
  },
  {
    name: 'large bodies',
    why: '4 clients, bodies of 1 MB that are slow to read',
    run: ({ crew, scaled }) => {
      const calls = bodyCalls();
      return crew.loop(scaled(4), (i) => pick(calls, i).call);
    },
  },
  {
    name: 'deep trees',
    why: '4 clients, listings and contents below 3,000 folders',
    run: ({ crew, world, scaled }) => {
      const calls = deepCalls(world);
      return crew.loop(scaled(4), (i) => pick(calls, i).call);
    },
  },
  {
    name: 'source readers',
    why: '500 slow readers of one file of 24 MB',
    run: ({ crew, world, scaled }) => crew.readSlowly(scaled(500), () => bigSourceCall(world)),
  },
  {
    name: 'slow readers',
    why: '10 slow readers of the largest answer of every endpoint',
    run: ({ crew, world, scaled }) => {
      const kindCount = endpointCalls(world, 0).length;
      return crew.readSlowly(
        scaled(10) * kindCount,
        (i) => pick(endpointCalls(world, Math.floor(i / kindCount)), i).call,
      );
    },
  },
  {
    name: 'idle connections',
    why: '1,000 connections that send nothing, and 1,000 that send half a request',
    run: ({ crew, scaled }) => {
      for (let i = 0; i < scaled(1000); i++) {
        crew.keepOpen([]);
        crew.keepOpen([WAITING_REQUEST]);
      }
      return crew.untilEnd();
    },
  },
  {
    name: 'vanishing clients',
    why: '32 connections that ask for the largest answers and leave within 50 ms',
    run: async (scene) => {
      const all = Array.from({ length: scene.scaled(32) }, (_, i) => vanish(scene, i));
      await Promise.all(all);
    },
  },
  {
    name: 'one by one',
    why: 'one client, every request of all attacks alone, once',
    isOnce: true,
    run: async ({ crew, world, scaled, blame }) => {
      for (const { name, call } of everyCall(world, scaled)) {
        if (crew.signal.aborted) return;
        blame(name);
        await crew.send(call);
        // So that effects of one call are not attributed to the next.
        await pause(scaled(100), crew.signal);
      }
    },
  },
  {
    name: 'slow senders',
    why: '1,000 connections send 1 MB less one byte, without credential',
    isClosed: true,
    run: ({ crew, scaled }) => {
      for (let i = 0; i < scaled(1000); i++) keepBodyOpen(crew, BODY_SIZE_MAX);
      return crew.untilEnd();
    },
  },
];
