// Calls of git and of code hosts, and the request that each is for, as told to one observer (app/traces.ts). Without an
// observer nothing is measured or kept.

export interface CallFacts {
  readonly system: 'git' | 'host';
  /** The command of git, or the HTTP method. */
  readonly name: string;
  /** Name of the code host, with a non-default port. */
  readonly host?: string;
  /** Aborted with the request that it is for, or with a part of that; absent: for a job. */
  readonly signal?: AbortSignal | undefined;
}

export interface EndedCall extends CallFacts {
  /** Of performance.now, as `endMs`. */
  readonly startMs: number;
  readonly endMs: number;
  /** A word on why it failed, without names or secrets; undefined: it did not. */
  readonly fault: string | undefined;
}

let observe: ((call: EndedCall) => void) | undefined;
/** The whole by its part. */
const wholes = new WeakMap<object, object>();

/** @param observer  undefined: none */
export function observeCalls(observer: typeof observe): void {
  observe = observer;
}

/** Reports the end of `work`, which is returned. */
export function observed<Value>(call: CallFacts, work: Promise<Value>): Promise<Value> {
  if (observe === undefined) return work;
  const startMs = performance.now();
  const end = (fault?: string): void =>
    observe?.({ ...call, startMs, endMs: performance.now(), fault });
  work.then(
    () => end(),
    (error: unknown) => end(faultOf(error)),
  );
  return work;
}

/** `part` is a signal for some of the work that the signal `whole` is for. */
export function notePart(part: AbortSignal, whole: object): void {
  if (observe !== undefined) wholes.set(part, whole);
}

/** Undefined: none is known. */
export function wholeOf(part: object): object | undefined {
  return wholes.get(part);
}

function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('failure' in error) return String(error.failure);
  return 'code' in error ? String(error.code) : error.name;
}
