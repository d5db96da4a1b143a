// A promise resolved from outside: Promise.withResolvers, which Node.js 20 lacks, without values and errors.

export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

export function deferred(): Deferred {
  let settle: (() => void) | undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle?.() };
}

/** As `deferred`, but resolves by itself after `timeMs`. */
export function deferredFor(timeMs: number): Deferred {
  const { promise, resolve } = deferred();
  const timer = setTimeout(resolve, timeMs);
  const resolveEarly = () => {
    clearTimeout(timer);
    resolve();
  };
  return { promise, resolve: resolveEarly };
}
