// Finds the endpoints of a path by method. A segment of a path may be a parameter (`{id}`), which matches any segment
// that is not empty; the last one may be a wildcard (`*rest`), which matches the rest with its slashes and may be
// empty. The base URL may put a prefix before all paths.

import type { Endpoint } from '../api/shapes/endpoint.ts';

export type Route = ReadonlyMap<string, Endpoint>;

export interface Found {
  readonly route: Route;
  /** Values of the parameters of the path, decoded. */
  readonly pathValues: Readonly<Record<string, string>>;
}

/** Characters of a path parameter as sent; a longer one matches nothing. */
const PARAMETER_SIZE_MAX = 1024;

/** Paths of the same form, with parameters or a wildcard. */
interface Pattern {
  readonly segments: readonly string[];
  readonly route: Map<string, Endpoint>;
}

export class Router {
  readonly #exact = new Map<string, Map<string, Endpoint>>();
  /** By the form of the path without parameter names. */
  readonly #patterns = new Map<string, Pattern>();
  /**
   * In matching order: without a wildcard first, then with one, the longest first; a literal segment goes before a
   * parameter.
   */
  readonly #ordered: readonly Pattern[];
  /** Precedes every path; may be empty. */
  readonly prefix: string;

  /**
   * @param baseUrl  its path, if any, precedes every route
   *
   * Errors: throws if two endpoints name the parameters of one path differently, or a wildcard is not last.
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

  /** The path without the prefix, which follows the name of a well-known document. The prefix alone is its root. */
  #below(path: string): string | undefined {
    const [name = ''] = WELL_KNOWN.exec(path) ?? [];
    const start = name + this.prefix;
    if (!path.startsWith(start)) return undefined;
    return name + path.slice(start.length) || '/';
  }

  /**
   * The endpoints of a path; the order of precedence is exact, with parameters, with a wildcard.
   */
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

/**
 * Well-known documents: this prefix, a name, and the path that they describe (RFC 8414, RFC 9728).
 */
const WELL_KNOWN = /^\/\.well-known\/[^/]+/;

function hasWildcard({ segments }: Pattern): boolean {
  return segments.at(-1)?.startsWith('*') === true;
}

function rankOf(pattern: Pattern): number {
  return hasWildcard(pattern) ? 1 / pattern.segments.length : 0;
}

/** A literal segment goes before a parameter: the first difference decides. */
function byNames(a: Pattern, b: Pattern): number {
  const opens = ({ segments }: Pattern): number[] =>
    segments.map((segment) => (/^[{*]/.test(segment) ? 1 : 0));
  const [left, right] = [opens(a), opens(b)];
  const position = left.findIndex((open, index) => open !== right[index]);
  return position < 0 ? 0 : left[position]! - (right[position] ?? 0);
}

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

/** The segment without percent-encoding; undefined if it is empty, too long or malformed. */
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

/** The `Allow` header for requests without a path (`OPTIONS *`). */
export const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export function allowedMethods(route: Route): string {
  const methods = [...route.keys()];
  if (route.has('GET')) methods.push('HEAD');
  return [...methods, 'OPTIONS'].join(', ');
}
