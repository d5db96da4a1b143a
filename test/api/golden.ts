// The API description as a short listing, a line for each field, to detect incompatible changes.
// `test/api/api.golden.txt` is the accepted listing; `npm run golden` rewrites it.

import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { makeDocument } from '../../daemon/api/instance/openapi.ts';
import { DOCUMENT_OPTIONS, headerOf, operationsOf } from './document.ts';
import type { Document, Operation, Response, Schema } from './document.ts';

export const GOLDEN_FILE = 'test/api/api.golden.txt';

/** What clients see. */
export function publicDocument(): Document {
  return makeDocument(ENDPOINTS, DOCUMENT_OPTIONS) as Document;
}

/** The listing; `!` marks required members. */
export function listingOf(document: Document): string {
  const operations = operationsOf(document).flatMap(({ path, method, operation }) => [
    `${method} ${path}  ${operation.operationId} [${operation.tags.join(', ')}]`,
    ...operationLines(document, operation).map((line) => `  ${line}`),
    '',
  ]);
  const schemas = Object.entries(document.components.schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, schema]) => [...schemaLines(name, schema), '']);
  const { openapi, info } = document;
  return [`OpenAPI ${openapi}, ${String(info['version'])}`, '', ...operations, ...schemas].join(
    '\n',
  );
}

function operationLines(document: Document, operation: Operation): string[] {
  const { security, parameters = [], requestBody, responses } = operation;
  const credentials = security.map((one) => Object.keys(one)[0] ?? 'none');
  const body = requestBody?.content['application/json']?.schema;
  return [
    `credential: ${credentials.join(', ')}`,
    ...parameters.map(
      ({ in: where, name, required, schema }) =>
        `${where} ${name}${required === true ? '!' : ''}: ${typeOf(schema)}`,
    ),
    ...(body === undefined ? [] : [`body${mark(requestBody?.required)}: ${typeOf(body)}`]),
    ...Object.entries(responses).map(([status, response]) =>
      responseLine(document, status, response),
    ),
  ];
}

/** One line: status, error codes, type of the body in which forms, headers. */
function responseLine(document: Document, status: string, response: Response): string {
  const { headers, content = {}, 'x-error-codes': codes = [] } = response;
  const forms = Object.keys(content).join(', ');
  const [type] = new Set(Object.values(content).map(({ schema }) => typeOf(schema)));
  const names = Object.entries(headers).map(
    ([name, header]) => name + mark(headerOf(document, header).required),
  );
  const body = type === undefined ? 'no body' : `${type} as ${forms}`;
  return `${[status, ...codes].join(' ')}: ${body}; ${names.join(', ')}`;
}

function schemaLines(name: string, schema: Schema): string[] {
  if (schema.properties === undefined) return [`${name}: ${typeOf(schema)}`];
  return [name, ...fieldsOf(schema).map((field) => `  ${field}`)];
}

function fieldsOf({ properties = {}, required = [] }: Schema): string[] {
  return Object.entries(properties).map(
    ([name, schema]) => `${name}${mark(required.includes(name))}: ${typeOf(schema)}`,
  );
}

function mark(isRequired: boolean | undefined): string {
  return isRequired === true ? '!' : '';
}

function typeOf(schema: Schema): string {
  const value = schema.default === undefined ? '' : ` = ${JSON.stringify(schema.default)}`;
  return bareTypeOf(schema) + value;
}

function bareTypeOf(schema: Schema): string {
  const { $ref, oneOf, anyOf, enum: values, properties, items, type } = schema;
  if ($ref !== undefined) return $ref.replace('#/components/schemas/', '');
  const choices = oneOf ?? anyOf;
  if (choices !== undefined) return choices.map(bareTypeOf).join(' | ');
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (items !== undefined) return `(${typeOf(items)})[]`;
  if (properties !== undefined) return `{ ${fieldsOf(schema).join('; ')} }`;
  const types = typeof type === 'string' ? type : type?.join(' | ');
  const parts = [types, schema.format, boundsOf(schema), schema.pattern];
  return parts.filter((part) => part !== undefined).join(' ');
}

function boundsOf({ minimum, maximum, maxLength }: Schema): string | undefined {
  const top = maximum === Number.MAX_SAFE_INTEGER ? '2^53-1' : (maximum ?? '');
  if (minimum !== undefined || maximum !== undefined) return `${minimum ?? ''}..${top}`;
  return maxLength === undefined ? undefined : `..${maxLength} characters`;
}
