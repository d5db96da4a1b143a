// The contract (daemon/api/API.md) and the code agree: endpoints, error codes, limits, configuration keys and
// variables with their defaults, statistics, reasons, prefixes, worked examples of queries, tools, entitlements,
// commands.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ENTITLEMENTS, LICENCE_STATES } from '../../daemon/accounts/licence.ts';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { mcpEndpoints } from '../../daemon/api/mcp/mcp-endpoints.ts';
import { TOOLS } from '../../daemon/api/mcp/tools/tools.ts';
import { OAUTH_ENDPOINTS } from '../../daemon/api/oauth/oauth-endpoints.ts';
import { PAGES } from '../../daemon/api/page/page-endpoints.ts';
import { ERRORS } from '../../daemon/api/shapes/api-error.ts';
import type { Endpoint } from '../../daemon/api/shapes/endpoint.ts';
import { exhaustiveness, statsNumbers } from '../../daemon/api/search/search-schemas.ts';
import { schemaDocument } from '../../daemon/base/config/schema-document.ts';
import { DEFAULT_NOTES } from '../../daemon/base/config/settings.ts';
import { VARIABLES, type Variable } from '../../daemon/base/config/variables.ts';
import { SYMBOL_KINDS } from '../../daemon/engine/symbols/kinds.ts';
import { PREFIX_NAMES } from '../../daemon/engine/query/prefixes.ts';
import { createLog } from '../../daemon/base/log.ts';
import { formOf } from '../engine/query/forms.ts';
import { filesBelow } from '../structure/imports.ts';
import { LIMITS } from './contract-limits.ts';
import { wholeDocument } from './document.ts';

const contract = readFileSync('daemon/api/API.md', 'utf8');

/** The text of a section with those below it: `19` has 19.1 and so on. */
function section(number: string): string {
  const head = new RegExp(`^(#+) ${number.replaceAll('.', '\\.')}[. ].*$`, 'm').exec(contract);
  assert.ok(head, `the contract has no section ${number}`);
  const rest = contract.slice(head.index + head[0].length);
  const end = rest.search(new RegExp(`^#{1,${head[1]!.length}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

/** Cells of the rows of all tables of a section, without their heads. `\|` stands for `|`. */
function rowsOf(number: string): string[][] {
  const lines = section(number).split('\n');
  return lines
    .filter((line, index) => line.startsWith('|') && lines[index + 1]?.startsWith('|-') !== true)
    .filter((line) => !line.startsWith('|-'))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('\\|', '|')));
}

function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

function assertSame(
  said: readonly unknown[],
  expected: readonly unknown[],
  message?: string,
): void {
  const inOrder = (list: readonly unknown[]): string[] =>
    list.map((one) => JSON.stringify(one)).toSorted();
  assert.deepEqual(inOrder(said), inOrder(expected), message);
}

function accessOf({ access, allowsAnonymous }: Endpoint): string {
  return allowsAnonymous === true ? 'any' : access;
}

test('endpoints: same methods, paths, access, entitlement, counting', () => {
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const served = [...ENDPOINTS, ...mcpEndpoints('0.0.0', log), ...OAUTH_ENDPOINTS];
  const expected = served.map((one) =>
    [one.method, one.path, accessOf(one), one.entitlement ?? '', one.isCounted ? 'yes' : ''].join(
      ' ',
    ),
  );
  const said = rowsOf('3').flatMap(([endpoint = '', access, entitlement, counted]) => {
    const [, methods = '', path = ''] = /^([A-Z, ]+) `([^`]+)`$/.exec(endpoint) ?? [];
    return methods
      .split(', ')
      .map((method) => [method, path, access, entitlement, counted].join(' '));
  });
  assertSame(said, expected);
});

/** A heading or the row of a table has this number. */
function hasSection(number: string): boolean {
  const dotted = number.replaceAll('.', '\\.');
  return new RegExp(`^(?:#+ ${dotted}[. ]|\\| ${dotted} \\|)`, 'm').test(contract);
}

test('endpoints: each row names an existing section', () => {
  for (const [endpoint, , , , number = ''] of rowsOf('3'))
    assert.ok(hasSection(number), `${endpoint}: no section ${number}`);
});

test('pages: those of the contract', () => {
  const pages = PAGES.map((page) => page.replace('*rest', '{rest}'));
  assert.deepEqual(codesIn(section('23.1')).slice(0, pages.length), pages);
});

test('error codes: same codes, same statuses', () => {
  const said = rowsOf('25').flatMap(([status, codes = '']) =>
    codesIn(codes).map((code) => [code, Number(status)]),
  );
  assertSame(
    said,
    Object.entries(ERRORS).map(([code, [status]]) => [code, status]),
  );
});

/** Never sent and never used for anything else, as clients may know them from elsewhere. */
const RESERVED = [
  'INVALID_RESPONSE_BODY',
  'REPOSITORY_NOT_FOUND',
  'GITHUB_RATE_LIMITED',
  'OAUTH_INSUFFICIENT_SCOPE',
  'INVALID_API_KEY',
  'USER_NOT_FOUND',
  'ORG_NOT_FOUND',
  'ORG_DOMAIN_ALREADY_EXISTS',
  'MISSING_ORG_DOMAIN_HEADER',
  'INVALID_ORG_METADATA',
  'INVALID_INVITE',
  'INVALID_INVITE_LINK',
  'INVITE_LINK_NOT_ENABLED',
  'MEMBER_NOT_ACTIVE',
  'MEMBERSHIP_MANAGED_BY_IDP',
  'ACTION_DISALLOWED_IN_TENANCY_MODE',
  'CONNECTION_SYNC_ALREADY_SCHEDULED',
  'CONNECTION_NOT_FAILED',
  'CONNECTION_ALREADY_EXISTS',
  'CONNECTION_CONFIG_PATH_SET',
  'SECRET_ALREADY_EXISTS',
  'EMAIL_LOGIN_CONTROLLED_BY_ENV',
  'EMAIL_CODE_LOGIN_CONTROLLED_BY_ENV',
  'EMAIL_CODE_LOGIN_CANNOT_BE_DISABLED',
  'MEMBER_APPROVAL_CONTROLLED_BY_ENV',
  'MCP_SERVER_ALREADY_EXISTS',
  'MCP_SERVER_NOT_FOUND',
  'AGENT_SKILL_ALREADY_EXISTS',
  'AGENT_SKILL_NOT_FOUND',
];

test('error codes: reserved ones are unused', () => {
  assert.ok(section('25').includes(`${RESERVED.length} more codes`));
  assert.deepEqual(
    RESERVED.filter((code) => Object.hasOwn(ERRORS, code)),
    [],
  );
});

test('error codes: those named in a section exist', () => {
  const enums = new Set(codesIn(section('13')).concat(codesIn(section('20'))));
  const [text] = contract.split('\n## 25. ');
  for (const code of codesIn(text ?? '').filter((one) => /^[A-Z]+(?:_[A-Z]+)+$/.test(one))) {
    const isOther = enums.has(code) || /^(?:TRAWL|HTTPS?|NO|FLUSH)_/.test(code);
    assert.ok(isOther || Object.hasOwn(ERRORS, code), code);
  }
});

/** Whether a text has a phrase; one that begins with a number, not within another number. */
function says(text: string, phrase: string): boolean {
  const parts = text.split(phrase);
  return parts.slice(0, -1).some((before) => !/^\d/.test(phrase) || !/[\d.,]$/.test(before));
}

test('limits: the contract and the code have the same numbers', () => {
  for (const [number, phrase, value] of LIMITS) {
    const forms = [value.toLocaleString('en-US'), String(value)].map((one) =>
      phrase.replace('{}', one),
    );
    const isSaid = forms.some((form) => says(section(number), form));
    assert.ok(isSaid, `API.md ${number} does not say: ${forms[0]}`);
  }
});

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly const?: string;
}

/** Paths of all keys with their defaults, as the contract writes them. Objects with keys of their own have no row. */
function keysOf(node: SchemaNode, path = ''): [key: string, value: string][] {
  return Object.entries(node.properties ?? {}).flatMap(([name, inner]) => {
    const key = path + name;
    const isSecret = inner.anyOf?.some(({ properties }) => properties?.['env'] !== undefined);
    if (inner.properties !== undefined && isSecret !== true) return keysOf(inner, `${key}.`);
    const below = inner.items?.properties === undefined ? [] : keysOf(inner.items, `${key}[].`);
    return [[key, defaultOf(inner, node.required?.includes(name) === true)], ...below];
  });
}

function defaultOf({ default: value }: SchemaNode, isRequired: boolean): string {
  if (value === undefined) return isRequired ? 'required' : 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const configuration = (schemaDocument() as SchemaNode).properties!;

/** Kinds of what an object with free names has. */
function kindsOf(key: string): readonly SchemaNode[] {
  const node = configuration[key]!.additionalProperties as SchemaNode;
  return node.oneOf ?? node.anyOf ?? [node];
}

test('configuration: the top-level keys', () => {
  const said = rowsOf('19.1').flatMap(([key = '']) => codesIn(key));
  assert.deepEqual(said, Object.keys(configuration));
});

test('configuration: settings and their defaults', () => {
  const expected = keysOf(configuration['settings']!).map(([key, value]) => [
    key,
    DEFAULT_NOTES[key] ?? value,
  ]);
  const said = rowsOf('19.3').flatMap(([keys = '', value]) =>
    keys.split(', ').map((key) => [key, value]),
  );
  assertSame(said, expected);
});

const TYPE_BY_LETTER: Readonly<Record<string, string>> = Object.fromEntries(
  [...section('19.4').matchAll(/\b([A-Z]) = (\w+)/g)].map(([, letter = '', type = '']) => [
    letter,
    type,
  ]),
);

test('configuration: keys of each kind of connection and their defaults', () => {
  const expected = kindsOf('connections').flatMap((kind) =>
    keysOf(kind).map(([key, value]) => `${kind.properties!['type']!.const} ${key} ${value}`),
  );
  const said = rowsOf('19.4').flatMap(([keys = '', types = '', value]) =>
    keys
      .split(', ')
      .flatMap((key) =>
        types.split('').map((letter) => `${TYPE_BY_LETTER[letter]} ${key} ${value}`),
      ),
  );
  assertSame(said, expected);
});

test('configuration: keys of contexts, permissions, apps and identity providers', () => {
  const expected = [
    ...kindsOf('contexts').flatMap((kind) => keysOf(kind, 'contexts.*.')),
    ...keysOf(configuration['permissions']!, 'permissions.'),
    ...keysOf(configuration['apps']!.items!, 'apps[].'),
    ...kindsOf('identityProviders').flatMap((kind) => keysOf(kind, 'identityProviders.*.')),
  ].map((row) => row.join(' '));
  const said = ['19.5', '19.6']
    .flatMap(rowsOf)
    .flatMap(([keys = '', value]) => keys.split(', ').map((key) => `${key} ${value}`));
  assertSame(said, [...new Set(expected)]);
});

test('variables: names, flags, defaults, secrets', () => {
  const expected = Object.values<Variable>(VARIABLES).map((row) => {
    const value = row.defaultNote ?? row.defaultText ?? 'none';
    return [row.name, row.flag ?? '', value, row.isSecret === true];
  });
  const said = rowsOf('21.2').map(([name, flag, value, help = '']) => [
    name,
    flag,
    value,
    help.startsWith('S;'),
  ]);
  assertSame(said, expected);
});

test('statistics and reasons: the same names', () => {
  const said = rowsOf('7.2').map(([field]) => field);
  assertSame(said, [...Object.keys(statsNumbers), 'flushReason']);
  const reasons = rowsOf('6.6').map(([reason = '']) => codesIn(reason)[0]);
  assert.deepEqual(reasons, exhaustiveness.incompleteReasons.unwrap().element.options);
});

test('queries: the same prefixes; each worked example has its canonical form', () => {
  const prefixes = rowsOf('9.3').flatMap(([prefix = '']) => codesIn(prefix));
  assertSame(
    prefixes,
    PREFIX_NAMES.map((name) => `${name}:`),
  );
  const examples = rowsOf('9.8');
  assert.ok(examples.length > 10);
  for (const [number, query = '', mode, form = ''] of examples)
    assert.equal(formOf(query.slice(1, -1), mode as 'K' | 'R'), form.slice(1, -1), number);
});

test('tools: the same names, and arguments', () => {
  for (const [names = '', input = ''] of rowsOf('17.3'))
    for (const name of codesIn(names)) {
      const described = TOOLS.find((tool) => tool.name === name);
      assert.ok(described, name);
      const properties = (described.inputSchema as SchemaNode).properties ?? {};
      assertSame(codesIn(input), Object.keys(properties), name);
    }
  const said = rowsOf('17.3').flatMap(([names = '']) => codesIn(names));
  assertSame(
    said,
    TOOLS.map(({ name }) => name),
  );
});

test('licences: the same entitlements and states', () => {
  const said = rowsOf('4.9').map(([name = '']) => codesIn(name)[0]);
  assertSame(said, [...ENTITLEMENTS]);
  const [, states = ''] = section('4.9').split('States:');
  assert.deepEqual(codesIn(states).slice(0, LICENCE_STATES.length), LICENCE_STATES);
});

test('kinds of symbols and code hosts: the same names', () => {
  assertSame(codesIn(section('10.3')), SYMBOL_KINDS);
  const [, hosts = ''] = section('1').split('Code host types (seed):');
  assertSame(codesIn(hosts), wholeDocument().components.schemas['CodeHostType']?.enum ?? []);
});

test('required members of errors: description and contract agree', () => {
  const { required = [] } = wholeDocument().components.schemas['Error'] ?? {};
  assert.deepEqual(codesIn(section('2.4')).slice(0, required.length), required);
});

test('audit: the same actions', () => {
  const source = readFileSync('daemon/accounts/audit-log.ts', 'utf8');
  const [, union = ''] = /^export type AuditAction =([^;]+);/m.exec(source) ?? [];
  const actions = [...union.matchAll(/'([^']+)'/g)].map(([, action]) => action);
  assert.ok(actions.length > 30);
  const said = rowsOf('24.3').flatMap(([, names = '']) => codesIn(names));
  assert.deepEqual(said, actions);
});

test('command line: the same commands', () => {
  const help = execFileSync(process.execPath, ['build/daemon/cli/main.js', '--help'], {
    encoding: 'utf8',
  });
  const [, commands = ''] = help.split('\nCommands:\n');
  const names = [...commands.matchAll(/^  ([a-z]+) /gm)].map(([, name]) => name);
  const said = rowsOf('22.2').flatMap(([command = '']) => codesIn(command));
  assertSame([...said, 'help'], names);
});

test('sections named in comments and documents exist', () => {
  const files = ['core', 'daemon', 'test', 'bench', 'scripts'].flatMap((folder) =>
    filesBelow(folder, '.ts', '.tsx', '.mjs', '.md'),
  );
  let count = 0;
  for (const file of files)
    for (const [, number = ''] of readFileSync(file, 'utf8').matchAll(
      /API\.md (?:section )?(\d+(?:\.\d+)?)/g,
    )) {
      count++;
      assert.ok(hasSection(number), `${file}: API.md ${number}`);
    }
  assert.ok(count > 50);
});
