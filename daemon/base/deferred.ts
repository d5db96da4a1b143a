// A promise that whoever made it resolves; Promise.withResolvers, which Node.js 20 has not, without values and errors.

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

/** As `deferred`; it resolves by itself after so long. */
export function deferredFor(timeMs: number): Deferred {
  const { promise, resolve } = deferred();
  const timer = setTimeout(resolve, timeMs);
  const resolveEarly = () => {
    clearTimeout(timer);
    resolve();
  };
  return { promise, resolve: resolveEarly };
}
