// Requests made from the API description: valid ones, and ones with an error or two. As arbitraries of fast-check, so
// that a failing one is shrunk.

import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Document, NamedOperation, Parameter, Schema } from './document.ts';

export interface MadeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Vocabulary {
  /** Values that mean something to this daemon, by the name of a parameter or member. */
  readonly words: Readonly<Record<string, readonly unknown[]>>;
  readonly credentials: readonly Readonly<Record<string, string>>[];
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'];

/** Text with all that text may hold. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '',
    '\0',
    '\n',
    '../..',
    '-x',
    '@{1}',
    '{}',
    'null',
    'é'.repeat(500),
    '\u{1F600}',
  ),
);

const nested = fc
  .tuple(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(['[', ']'], ['{"a":', '}']))
  .map(([depth, [open, close]]) => `${open?.repeat(depth)}1${close?.repeat(depth)}`);

/** JSON that is of the wrong type nearly everywhere, or beyond every bound. */
const wrongJson: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    '[]',
    '{}',
    '""',
    '"1"',
    '"\\ud800"',
    '0',
    '-1',
    '1.5',
    '-0',
    '1e-7',
  ),
  fc.constantFrom('1e308', '1e400', '-1e400', '9007199254740993', '9'.repeat(400), '{"":{}}'),
  fc.json({ maxDepth: 3 }),
  fc.integer({ min: 1, max: 80_000 }).map((size) => JSON.stringify('x('.repeat(size / 2))),
  nested,
);

interface Maker extends Vocabulary {
  readonly document: Document;
}

/** JSON that fits the schema. */
function fittingJson(schema: Schema, maker: Maker, name: string): Arbitrary<string> {
  const words = maker.words[name];
  if (words !== undefined) return fc.constantFrom(...words.map((word) => JSON.stringify(word)));
  const { enum: values, anyOf, items, type } = resolve(schema, maker);
  if (values !== undefined) return fc.constantFrom(...values.map((one) => JSON.stringify(one)));
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => fittingJson(one, maker, '')));
  if (items !== undefined)
    return fc
      .array(fittingJson(items, maker, ''), { minLength: 1, maxLength: 3 })
      .map((all) => `[${all.join(',')}]`);
  switch (type) {
    case 'null':
      return fc.constant('null');
    case 'boolean':
      return fc.constantFrom('true', 'false');
    case 'integer': {
      const { minimum: min = 0, maximum = 1e9 } = schema;
      return fc.integer({ min, max: Math.min(maximum, 1e9) }).map(String);
    }
    default:
      return 'const' in schema
        ? fc.constant(JSON.stringify(schema.const))
        : anyText.map((text) => JSON.stringify(text));
  }
}

function resolve(schema: Schema, { document }: Maker): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

/** A body whose members fit, are wrong, are missing, or are not known. */
function memberBody(schema: Schema, maker: Maker): Arbitrary<string> {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const fitting = fittingJson(member, maker, name);
    const isRequired = schema.required?.includes(name) ?? false;
    return fc.oneof(
      { weight: 8, arbitrary: fitting.map((json) => `"${name}":${json}`) },
      { weight: 2, arbitrary: wrongJson.map((json) => `"${name}":${json}`) },
      { weight: isRequired ? 1 : 8, arbitrary: fc.constant('') },
    );
  });
  const more = fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    fc.tuple(anyText, wrongJson).map(([name, json]) => `${JSON.stringify(name)}:${json}`),
    wrongJson.map((json) => `"__proto__":${json}`),
  );
  return fc
    .tuple(...members, more)
    .map((parts) => `{${parts.filter((part) => part !== '').join(',')}}`);
}

function bodyFor({ operation }: NamedOperation, maker: Maker) {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    wrongJson,
    fc.constantFrom<string | Uint8Array>(
      '',
      '{',
      '{"query":"a","matches":1',
      'x'.repeat(1_100_000),
    ),
  );
  if (schema === undefined) return fc.option(garbage, { nil: undefined, freq: 8 });
  const fitting = memberBody(resolve(schema, maker), maker);
  return fc.oneof({ weight: 6, arbitrary: fitting }, { weight: 1, arbitrary: garbage });
}

const oddValue = fc.oneof(
  anyText.map(encodeURIComponent),
  fc.constantFrom(
    '%',
    '%zz',
    '%ff',
    '%00',
    '+',
    '0x1',
    '-1',
    '1e3',
    '99999999999999999999',
    '&&==',
  ),
  fc.integer({ min: 1, max: 3000 }).map((size) => 'a'.repeat(size)),
);

function parameterValue({ name, schema }: Parameter, maker: Maker): Arbitrary<string> {
  const fitting = fittingJson(schema, maker, name).map((json) => {
    const value: unknown = JSON.parse(json);
    return encodeURIComponent(String(value));
  });
  return fc.oneof({ weight: 4, arbitrary: fitting }, { weight: 1, arbitrary: oddValue });
}

function queryFor({ operation }: NamedOperation, maker: Maker) {
  const parameters = (operation.parameters ?? []).filter(({ in: where }) => where === 'query');
  const parts = parameters.map((parameter) =>
    fc.oneof(
      {
        weight: 4,
        arbitrary: parameterValue(parameter, maker).map((value) => `${parameter.name}=${value}`),
      },
      { weight: parameter.required === true ? 1 : 4, arbitrary: fc.constant('') },
    ),
  );
  const more = fc.option(
    fc.oneof(
      oddValue,
      oddValue.map((value) => `__proto__=${value}`),
    ),
    { nil: '', freq: 4 },
  );
  return fc
    .tuple(...parts, more)
    .map((all) => all.filter((part) => part !== '').join('&'))
    .map((query) => (query === '' ? '' : `?${query}`));
}

function pathFor({ path, operation }: NamedOperation, maker: Maker) {
  const parameters = (operation.parameters ?? []).filter(({ in: where }) => where === 'path');
  return fc
    .tuple(...parameters.map((parameter) => parameterValue(parameter, maker)))
    .map((values) =>
      parameters.reduce(
        (text, { name }, index) => text.replace(`{${name}}`, () => values[index] ?? ''),
        path,
      ),
    );
}

function headersFor({ credentials: valid }: Maker): Arbitrary<Record<string, string>> {
  const sometimes = (values: readonly string[]) =>
    fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
  const credentials = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...valid) },
    fc.constantFrom<Record<string, string>>(
      {},
      { Authorization: 'Bearer' },
      { Authorization: `Bearer svst_${'0'.repeat(64)}` },
      { 'X-Service-Api-Key': 'x'.repeat(2000) },
      { Cookie: 'trawl_session=%00; trawl_session=' },
    ),
  );
  const others = fc.record({
    Accept: sometimes([
      'application/x-msgpack',
      'application/msgpack;q=0.1',
      '*/*;q=x',
      'text/html',
    ]),
    'Accept-Encoding': sometimes(['gzip', 'br, gzip;q=0.5', '*;q=0', ',,;']),
    'Content-Type': sometimes(['text/plain', 'application/xml; charset=utf-7', ';']),
    Range: sometimes(['bytes=0-', 'bytes=-1', 'bytes=9-1', 'bytes=999-', 'bytes=0-0,2-2', 'a=0-']),
    'If-None-Match': sometimes(['*', '"', 'W/""']),
    'X-Request-Id': sometimes(['a'.repeat(64), 'a'.repeat(65), '<a>', '']),
  });
  return fc.tuple(credentials, others).map(([one, more]) => {
    const defined = Object.entries(more).filter(([, value]) => value !== undefined);
    return { ...one, ...Object.fromEntries(defined) } as Record<string, string>;
  });
}

/** Requests to the path of an operation, most of them with its method. */
export function requestsFor(
  operation: NamedOperation,
  document: Document,
  vocabulary: Vocabulary,
): Arbitrary<MadeRequest> {
  const maker: Maker = { ...vocabulary, document };
  const method = fc.oneof(
    { weight: 9, arbitrary: fc.constant(operation.method) },
    { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
  );
  return fc
    .record({
      method,
      path: pathFor(operation, maker),
      query: queryFor(operation, maker),
      headers: headersFor(maker),
      body: bodyFor(operation, maker),
    })
    .map(({ body, query, path, ...rest }) => ({
      ...rest,
      path: path + query,
      ...(body === undefined ? {} : { body }),
    }));
}
