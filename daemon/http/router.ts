// From a path to the endpoints of it by method. A segment of a path may be a parameter (`{id}`), which takes any
// segment that is not empty; the base URL may put a prefix before all paths.

import type { Endpoint } from './api/endpoint.ts';

/** The endpoints of one path by method. */
export type Route = ReadonlyMap<string, Endpoint>;

export interface Found {
  readonly route: Route;
  /** Values of the parameters of the path, decoded. */
  readonly pathValues: Readonly<Record<string, string>>;
}

/** Characters of a parameter of the path as sent; a longer one is no path of ours. */
const PARAMETER_SIZE_MAX = 1024;

/** Paths of one form that have parameters. */
interface Pattern {
  readonly segments: readonly string[];
  readonly route: Map<string, Endpoint>;
}

export class Router {
  readonly #exact = new Map<string, Map<string, Endpoint>>();
  /** By the form of the path, the names of its parameters left out. */
  readonly #patterns = new Map<string, Pattern>();
  readonly #prefix: string;

  /**
   * @param baseUrl  its path, if any, stands before every route
   *
   * Errors: throws if two endpoints name the parameters of one path differently.
   */
  constructor(endpoints: readonly Endpoint[], baseUrl: string) {
    this.#prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
    for (const endpoint of endpoints) this.#routeFor(endpoint.path).set(endpoint.method, endpoint);
  }

  #routeFor(path: string): Map<string, Endpoint> {
    if (!path.includes('{')) {
      const route = this.#exact.get(path) ?? new Map<string, Endpoint>();
      this.#exact.set(path, route);
      return route;
    }
    const form = path.replaceAll(/\{\w+\}/g, '{}');
    const pattern = this.#patterns.get(form) ?? { segments: path.split('/'), route: new Map() };
    if (pattern.segments.join('/') !== path) throw new Error(`two names for one path: ${path}`);
    this.#patterns.set(form, pattern);
    return pattern.route;
  }

  /** The endpoints of a path; where several fit, the one without parameters. */
  find(path: string): Found | undefined {
    if (!path.startsWith(this.#prefix)) return undefined;
    const rest = path.slice(this.#prefix.length);
    const route = this.#exact.get(rest);
    if (route !== undefined) return { route, pathValues: {} };
    const segments = rest.split('/');
    for (const pattern of this.#patterns.values()) {
      const pathValues = matchSegments(pattern.segments, segments);
      if (pathValues !== undefined) return { route: pattern.route, pathValues };
    }
    return undefined;
  }
}

/** Values of the parameters if the segments fit. */
function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (!part.startsWith('{')) {
      if (part !== segment) return undefined;
      continue;
    }
    const value = decodeParameter(segment);
    if (value === undefined) return undefined;
    values[part.slice(1, -1)] = value;
  }
  return values;
}

/** The segment without percent-encoding; undefined if it is empty, too long or not well formed. */
function decodeParameter(segment: string): string | undefined {
  if (segment === '' || segment.length > PARAMETER_SIZE_MAX) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Of `Allow` where no path is asked for. */
export const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Value of the `Allow` header. */
export function allowedMethods(route: Route): string {
  const methods = [...route.keys()];
  if (route.has('GET')) methods.push('HEAD');
  return [...methods, 'OPTIONS'].join(', ');
}
