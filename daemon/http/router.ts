// From a path to the endpoints of it by method. A segment of a path may be a parameter (`{id}`), which takes any
// segment that is not empty, the last one a wildcard (`*rest`), which takes all that follows, slashes included, and
// may be empty; the base URL may put a prefix before all paths.

import type { Endpoint } from '../api/shapes/endpoint.ts';

/** The endpoints of one path by method. */
export type Route = ReadonlyMap<string, Endpoint>;

export interface Found {
  readonly route: Route;
  /** Values of the parameters of the path, decoded. */
  readonly pathValues: Readonly<Record<string, string>>;
}

/** Characters of a parameter of the path as sent; a longer one is no path of ours. */
const PARAMETER_SIZE_MAX = 1024;

/** Paths of one form that have parameters or a wildcard. */
interface Pattern {
  readonly segments: readonly string[];
  readonly route: Map<string, Endpoint>;
}

export class Router {
  readonly #exact = new Map<string, Map<string, Endpoint>>();
  /** By the form of the path, the names of its parameters left out. */
  readonly #patterns = new Map<string, Pattern>();
  /** In the order of asking: without a wildcard, then with one, the longest first; of two forms the one with names. */
  readonly #ordered: readonly Pattern[];
  /** Before every path; empty: there is none. */
  readonly prefix: string;

  /**
   * @param baseUrl  its path, if any, stands before every route
   *
   * Errors: throws if two endpoints name the parameters of one path differently, or a wildcard is not at the end.
   */
  constructor(endpoints: readonly Endpoint[], baseUrl: string) {
    this.prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
    for (const endpoint of endpoints) this.#routeFor(endpoint.path).set(endpoint.method, endpoint);
    this.#ordered = [...this.#patterns.values()].sort(
      (a, b) => rankOf(a) - rankOf(b) || byNames(a, b),
    );
  }

  #routeFor(path: string): Map<string, Endpoint> {
    if (/\/\*.*\//.test(path)) throw new Error(`a wildcard that is not at the end: ${path}`);
    if (!/[{*]/.test(path)) {
      const route = this.#exact.get(path) ?? new Map<string, Endpoint>();
      this.#exact.set(path, route);
      return route;
    }
    const form = path.replaceAll(/\{\w+\}/g, '{}').replace(/\*\w+$/, '*');
    const pattern = this.#patterns.get(form) ?? { segments: path.split('/'), route: new Map() };
    if (pattern.segments.join('/') !== path) throw new Error(`two names for one path: ${path}`);
    this.#patterns.set(form, pattern);
    return pattern.route;
  }

  /** The path without the prefix, which stands behind the name of a well-known document. The prefix alone is its root. */
  #below(path: string): string | undefined {
    const [name = ''] = WELL_KNOWN.exec(path) ?? [];
    const start = name + this.prefix;
    if (!path.startsWith(start)) return undefined;
    return name + path.slice(start.length) || '/';
  }

  /** The endpoints of a path; where several fit: exact, then with parameters, then with a wildcard. */
  find(path: string): Found | undefined {
    const rest = this.#below(path);
    if (rest === undefined) return undefined;
    const route = this.#exact.get(rest);
    if (route !== undefined) return { route, pathValues: {} };
    const segments = rest.split('/');
    for (const pattern of this.#ordered) {
      const pathValues = matchSegments(pattern, segments);
      if (pathValues !== undefined) return { route: pattern.route, pathValues };
    }
    return undefined;
  }
}

/** Where documents about what is at an address are: this, a name, and the path of the address (RFC 8414, RFC 9728). */
const WELL_KNOWN = /^\/\.well-known\/[^/]+/;

function hasWildcard({ segments }: Pattern): boolean {
  return segments.at(-1)?.startsWith('*') === true;
}

function rankOf(pattern: Pattern): number {
  return hasWildcard(pattern) ? 1 / pattern.segments.length : 0;
}

/** A pattern that names a segment before one that takes any there: the first that differ decide. */
function byNames(a: Pattern, b: Pattern): number {
  const opens = ({ segments }: Pattern): number[] =>
    segments.map((segment) => (/^[{*]/.test(segment) ? 1 : 0));
  const [left, right] = [opens(a), opens(b)];
  const place = left.findIndex((open, index) => open !== right[index]);
  return place < 0 ? 0 : left[place]! - (right[place] ?? 0);
}

/** Values of the parameters if the segments fit. */
function matchSegments(
  pattern: Pattern,
  segments: readonly string[],
): Record<string, string> | undefined {
  const count = pattern.segments.length;
  if (hasWildcard(pattern) ? segments.length < count : segments.length !== count) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of pattern.segments.entries()) {
    const segment = segments[index] ?? '';
    if (!/^[{*]/.test(part)) {
      if (part !== segment) return undefined;
      continue;
    }
    const isRest = part.startsWith('*');
    const value = isRest ? decode(segments.slice(index).join('/')) : decodeParameter(segment);
    if (value === undefined) return undefined;
    values[part.replaceAll(/[{*}]/g, '')] = value;
  }
  return values;
}

/** The segment without percent-encoding; undefined if it is empty, too long or not well formed. */
function decodeParameter(segment: string): string | undefined {
  return segment === '' || segment.length > PARAMETER_SIZE_MAX ? undefined : decode(segment);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
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
