// Process-wide pools and caches, registered where they are created, so that metrics can read them (daemon/app/metrics.ts).

/** Counts by state, such as running and waiting. */
interface Counted {
  readonly counts: Readonly<Record<string, number>>;
}

const pools = new Map<string, Counted>();
const caches = new Map<string, { readonly size: number }>();

/** Registers a process-wide pool under its metric name. */
export function measuredPool<Pool extends Counted>(name: string, pool: Pool): Pool {
  pools.set(name, pool);
  return pool;
}

/** Registers a process-wide cache under its metric name. */
export function measuredCache<Cache extends { readonly size: number }>(
  name: string,
  cache: Cache,
): Cache {
  caches.set(name, cache);
  return cache;
}

/** Labels and count for each state of all registered pools. */
export function measuredPools(): (readonly [{ pool: string; kind: string }, number])[] {
  return [...pools].flatMap(([pool, { counts }]) =>
    Object.entries(counts).map(([kind, count]) => [{ pool, kind }, count] as const),
  );
}

/** Label and entry count of all registered caches. */
export function measuredCaches(): (readonly [{ cache: string }, number])[] {
  return [...caches].map(([cache, { size }]) => [{ cache }, size]);
}
