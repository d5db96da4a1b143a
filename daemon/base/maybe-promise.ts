// Work that needs a promise only sometimes, such as on a cache miss: then most requests need none.

export type MaybePromise<Value> = Value | Promise<Value>;

/** Continues at once, or when the promise resolves. */
export function thenDo<Value, Result>(
  value: MaybePromise<Value>,
  proceed: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(proceed) : proceed(value);
}
