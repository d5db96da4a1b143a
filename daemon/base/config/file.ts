// The configuration file: JSON with comments and trailing commas, read at the start and whenever it is asked for. What it may hold besides
// `settings` and `permissions` is refused until this version knows it. Refusals name line, key and what is allowed.

import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  parseTree,
  type ParseError,
  printParseErrorCode,
} from 'jsonc-parser';
import { z } from 'zod';
import { NoFileError, readOwn } from '../own-file.ts';
import { ConfigError } from './error.ts';

/** Who sees which repos whose permissions are enforced. */
export interface PermissionsConfiguration {
  /** Group -> e-mail addresses. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly grants: readonly {
    /** `user:<email>`, `group:<name>` or `everyone`. */
    readonly to: readonly string[];
    /** Globs over names. */
    readonly repos: readonly string[];
  }[];
}

export const NO_PERMISSIONS: PermissionsConfiguration = { groups: {}, grants: [] };

export interface FileConfiguration {
  /** Not checked yet: settings.ts does. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly permissions: PermissionsConfiguration;
  /** Line of a key of `settings`; undefined: it is not in the file. */
  readonly lineOf: (settingsKey: string) => number | undefined;
}

const RECEIVER = /^(?:everyone|group:.+|user:[^@\s]+@[^@\s]+)$/;

const permissionsSchema = z.strictObject(
  {
    groups: z
      .record(z.string(), z.array(z.email({ error: 'expected an e-mail address' })))
      .default({}),
    grants: z
      .array(
        z.strictObject({
          to: z
            .array(
              z.string().regex(RECEIVER, {
                error: 'expected user:<email>, group:<name> or everyone',
              }),
            )
            .min(1),
          repos: z.array(z.string().min(1)).min(1),
        }),
      )
      .default([]),
  },
  { error: 'expected groups and grants' },
);

const KNOWN_KEYS = ['$schema', 'settings', 'permissions'];

/** Errors: ConfigError naming file, line, key and what is allowed. */
export function readConfigurationFile(file: string): FileConfiguration {
  const text = readText(file);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (first !== undefined)
    throw refusal(file, lineAt(text, first.offset), 'the text', printParseErrorCode(first.error));
  if (tree?.type !== 'object') throw refusal(file, 1, 'the text', 'expected an object');
  const lineOf = (...keys: string[]): number => lineAt(text, nodeAt(tree, keys).offset);
  const content = z.record(z.string(), z.unknown()).parse(getNodeValue(tree));
  for (const key of Object.keys(content)) {
    if (KNOWN_KEYS.includes(key)) continue;
    throw refusal(file, lineOf(key), key, `not supported; allowed: ${KNOWN_KEYS.join(', ')}`);
  }
  const settings = z.record(z.string(), z.unknown()).safeParse(content['settings'] ?? {});
  if (!settings.success) throw refusal(file, lineOf('settings'), 'settings', 'expected an object');
  return {
    settings: settings.data,
    permissions: readPermissions(file, content['permissions'] ?? {}, lineOf),
    lineOf: (key) => findNodeAtLocation(tree, ['settings', key]) && lineOf('settings', key),
  };
}

function readPermissions(
  file: string,
  value: unknown,
  lineOf: (...keys: string[]) => number,
): PermissionsConfiguration {
  const result = permissionsSchema.safeParse(value);
  if (!result.success) {
    const issue = result.error.issues[0];
    const keys = ['permissions', ...(issue?.path ?? []).map(String)];
    throw refusal(file, lineOf(...keys), keys.join('.'), issue?.message ?? 'invalid');
  }
  const { groups, grants } = result.data;
  for (const [index, { to }] of grants.entries()) {
    const unknown = to.find(
      (one) => one.startsWith('group:') && !Object.hasOwn(groups, one.slice('group:'.length)),
    );
    if (unknown === undefined) continue;
    const keys = ['permissions', 'grants', String(index), 'to'];
    throw refusal(file, lineOf(...keys), keys.join('.'), `there is no group for ${unknown}`);
  }
  return result.data;
}

function readText(file: string): string {
  try {
    return readOwn(file).toString('utf8');
  } catch (error) {
    // Why not any text: a pipe would hold up the whole daemon, a device has no end.
    const other = error instanceof NoFileError ? 'no file' : 'unreadable';
    const reason = error instanceof Error && 'code' in error ? String(error.code) : other;
    throw new ConfigError(
      'TRAWL_CONFIG',
      JSON.stringify(file),
      `${reason}; allowed: a readable file`,
    );
  }
}

/** The node at the keys, or the innermost one on the way that is there. */
function nodeAt(tree: Node, keys: readonly string[]): Node {
  const path = keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  for (let count = path.length; count > 0; count--) {
    const node = findNodeAtLocation(tree, path.slice(0, count));
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent : node;
  }
  return tree;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function refusal(file: string, line: number, key: string, allowed: string): ConfigError {
  return new ConfigError(`${file}:${line}`, key, allowed);
}
