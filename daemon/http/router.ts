// Finds the endpoints of a path. A segment may be a parameter (`{id}`, not empty); the last one a wildcard (`*rest`,
// with slashes, maybe empty). The base URL may put a prefix before all paths.

import type { Endpoint } from '../api/shapes/endpoint.ts';

export type Route = ReadonlyMap<string, Endpoint>;

export interface Found {
  readonly route: Route;
  readonly pathValues: Readonly<Record<string, string>>;
}

/** Characters of a path parameter as sent; a longer one matches nothing. */
const PARAMETER_SIZE_MAX = 1024;

/** Paths of the same form, with parameters or a wildcard. */
interface Pattern {
  readonly path: string;
  readonly regex: RegExp;
  readonly route: Map<string, Endpoint>;
}

export class Router {
  readonly #exact = new Map<string, Map<string, Endpoint>>();
  readonly #patterns: readonly Pattern[];
  readonly prefix: string;

  /** Throws if two endpoints name the parameters of one path differently, or a wildcard is not last. */
  constructor(endpoints: readonly Endpoint[], baseUrl: string) {
    this.prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
    const patterns = new Map<string, Pattern>();
    for (const endpoint of endpoints) {
      const { path, method } = endpoint;
      if (/[{*]/.test(path)) patternOf(path, patterns).route.set(method, endpoint);
      else this.#exact.set(path, (this.#exact.get(path) ?? new Map()).set(method, endpoint));
    }
    this.#patterns = [...patterns].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  }

  /** The path without the prefix, which follows the name of a well-known document. The prefix alone is its root. */
  #below(path: string): string | undefined {
    const [name = ''] = WELL_KNOWN.exec(path) ?? [];
    const start = name + this.prefix;
    if (!path.startsWith(start)) return undefined;
    return name + path.slice(start.length) || '/';
  }

  /** Precedence: exact, with parameters, with a wildcard. */
  find(path: string): Found | undefined {
    const rest = this.#below(path);
    if (rest === undefined) return undefined;
    const route = this.#exact.get(rest);
    if (route !== undefined) return { route, pathValues: {} };
    for (const pattern of this.#patterns) {
      const pathValues = valuesOf(pattern.regex.exec(rest)?.groups);
      if (pathValues !== undefined) return { route: pattern.route, pathValues };
    }
    return undefined;
  }
}

/** RFC 8414, RFC 9728: this prefix, a name, and the path that the document describes. */
const WELL_KNOWN = /^\/\.well-known\/[^/]+/;

/** The pattern of a path, by its form: paths without a wildcard first, a literal segment before a parameter. */
function patternOf(path: string, patterns: Map<string, Pattern>): Pattern {
  if (/\/\*.*\//.test(path)) throw new Error(`a wildcard that is not at the end: ${path}`);
  const kinds = path.split('/').map((one) => ({ '{': '}', '*': '~' })[one.slice(0, 1)] ?? one);
  const form = `${path.includes('*') ? 1 : 0}${kinds.join('/')}`;
  const source = path
    .replaceAll('.', '\\.')
    .replaceAll(/\{(\w+)\}/g, `(?<$1>[^/]{1,${PARAMETER_SIZE_MAX}})`)
    .replace(/\*(\w+)$/, '(?<$1>.*)');
  const regex = new RegExp(`^${source}$`, 's');
  const pattern = patterns.get(form) ?? { path, regex, route: new Map() };
  if (pattern.path !== path) throw new Error(`two names for one path: ${path}`);
  patterns.set(form, pattern);
  return pattern;
}

/** Decoded; undefined: no match, or malformed percent-encoding. */
function valuesOf(groups: Record<string, string> | undefined): Record<string, string> | undefined {
  if (groups === undefined) return undefined;
  try {
    const decoded = Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]);
    return Object.fromEntries(decoded);
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
