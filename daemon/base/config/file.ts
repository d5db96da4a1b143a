// Parses the configuration file (API.md 19): JSON with comments and trailing commas. A file with any mistake is refused,
// with a list of all its mistakes. The text comes from file-source.ts.

import {
  getNodeValue,
  type Node,
  parseTree,
  type ParseError,
  printParseErrorCode,
} from 'jsonc-parser';
import { RefusedFileError } from './error.ts';
import { type FileContent, fileSchema, type ProviderSettings } from './file-schema.ts';
import {
  describeIssue,
  type Diagnostic,
  diagnosticLines,
  diagnosticsOf,
  type ParsedText,
} from './diagnostics.ts';
import { memberOf } from './schema-document.ts';

export interface FileConfiguration extends Readonly<Omit<FileContent, '$schema' | 'settings'>> {
  /** As in the file, without defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Warnings about it. */
  readonly notices: readonly string[];
}

export const NO_FILE: FileConfiguration = { ...fileSchema.parse({}), settings: {}, notices: [] };

/** @param name  of the file, for errors. Errors: RefusedFileError. */
export function parseConfiguration(name: string, text: string): FileConfiguration {
  const parsed = parseText(name, text);
  const doubles = doubleKeys(parsed.tree);
  const result = fileSchema.safeParse(parsed.content, { error: describeIssue });
  const diagnostics = [...doubles, ...(result.success ? [] : diagnosticsOf(parsed, result.error))];
  if (diagnostics.length > 0 || !result.success)
    throw new RefusedFileError(name, diagnosticLines(name, text, diagnostics));
  const settings = Object.fromEntries(Object.entries(memberOf(parsed.content, 'settings') ?? {}));
  const notices = Object.entries(result.data.identityProviders).flatMap(plainIssuerNotice);
  return { ...result.data, settings, notices };
}

function plainIssuerNotice([id, provider]: [string, ProviderSettings]): string[] {
  const address = provider.type === 'oidc' ? provider.issuer : provider.url;
  if (!/^http:/i.test(address)) return [];
  return [
    `identityProviders.${id}: the issuer is reached without TLS: anyone on the network path can read the client's secret and sign in as anybody`,
  ];
}

/** Errors: RefusedFileError. */
function parseText(name: string, text: string): ParsedText {
  const errors: ParseError[] = [];
  let tree: Node | undefined;
  let content: unknown;
  try {
    tree = parseTree(text, errors, { allowTrailingComma: true });
    content = tree && getNodeValue(tree);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RefusedFileError(name, [`${name}: objects and lists are nested too deeply`]);
  }
  const diagnostics = errors.map(({ offset, error }) => ({
    offset,
    text: `the text: ${wordsOf(printParseErrorCode(error))}; expected JSON with comments`,
  }));
  if (diagnostics.length > 0)
    throw new RefusedFileError(name, diagnosticLines(name, text, diagnostics));
  if (tree?.type !== 'object')
    throw new RefusedFileError(name, [`${name}:1: the text: expected an object`]);
  return { tree, content };
}

/** CloseBraceExpected -> "close brace expected". */
function wordsOf(name: string): string {
  return name.replaceAll(/\B[A-Z]/g, ' $&').toLowerCase();
}

/** Duplicate keys of an object: the parser would drop the first. */
function doubleKeys(tree: Node): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const nodes = [tree];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    for (const child of node.children ?? []) nodes.push(child);
    if (node.type !== 'object') continue;
    const visited = new Set<unknown>();
    for (const { offset, children } of node.children ?? []) {
      const key: unknown = children?.[0]?.value;
      const isReserved = key === '__proto__';
      if (isReserved || visited.has(key))
        diagnostics.push({
          offset,
          text: `${String(key)}: ${isReserved ? 'not allowed as a key' : 'given twice in one object'}`,
        });
      visited.add(key);
    }
  }
  return diagnostics;
}
