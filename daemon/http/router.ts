// From method and path to an endpoint. Paths are exact; the base URL may put a prefix before all of them.

import type { Endpoint } from '../api/endpoint.ts';

/** The endpoints of one path by method. */
export type Route = ReadonlyMap<string, Endpoint>;

export class Router {
  readonly #routes = new Map<string, Map<string, Endpoint>>();
  readonly #prefix: string;

  /** @param baseUrl  its path, if any, stands before every route */
  constructor(endpoints: readonly Endpoint[], baseUrl: string) {
    this.#prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
    for (const endpoint of endpoints) {
      const route = this.#routes.get(endpoint.path) ?? new Map<string, Endpoint>();
      route.set(endpoint.method, endpoint);
      this.#routes.set(endpoint.path, route);
    }
  }

  find(path: string): Route | undefined {
    if (!path.startsWith(this.#prefix)) return undefined;
    return this.#routes.get(path.slice(this.#prefix.length));
  }
}

/** Value of the `Allow` header. */
export function allowedMethods(route: Route): string {
  const methods = [...route.keys()];
  if (route.has('GET')) methods.push('HEAD');
  return [...methods, 'OPTIONS'].join(', ');
}
