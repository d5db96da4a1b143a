// Validates request input with zod, and has the schema parts that endpoints share. An error names field or parameter.

import { z } from 'zod';
import { ApiError, type ErrorCode } from './api-error.ts';

/** `name`: of the whole value in errors. Unknown keys are dropped. Errors: INVALID_REQUEST_BODY. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  json: unknown,
  name = 'body',
): z.output<Schema> {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  throw refusal('INVALID_REQUEST_BODY', result.error, name);
}

/** The first of repeated parameters counts, unknown ones are dropped. Errors: INVALID_QUERY_PARAMS, `missingCode`. */
export function parseQuery<Schema extends z.ZodType>(
  schema: Schema,
  rawQuery: string,
  missingCode: ErrorCode = 'INVALID_QUERY_PARAMS',
): z.output<Schema> {
  const first = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    if (!first.has(name)) first.set(name, value);
  }
  const result = schema.safeParse(Object.fromEntries(first));
  if (result.success) return result.data;
  const name = result.error.issues[0]?.path[0];
  const isMissing = typeof name === 'string' && !first.has(name);
  throw refusal(isMissing ? missingCode : 'INVALID_QUERY_PARAMS', result.error, 'query');
}

/** Errors: NOT_FOUND, as no such path exists. */
export function parsePath<Schema extends z.ZodType>(
  schema: Schema,
  values: Readonly<Record<string, string>>,
): z.output<Schema> {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  throw new ApiError('NOT_FOUND', 'Not found.');
}

function refusal(errorCode: ErrorCode, error: z.ZodError, whole: string): ApiError {
  const issue = error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? whole : issue.path.join('.');
  return new ApiError(errorCode, `${field}: ${issue?.message ?? 'invalid'}`);
}

/** A JSON integer from `min` to `max`, in any notation (`100`, `1e2`, `100.0`). */
export function jsonInteger(min: number, max = Infinity) {
  const message = `expected an integer >= ${min}`;
  return z
    .number({ error: ({ input }) => (input === undefined ? `missing; ${message}` : message) })
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, { error: message })
    .meta({ override: { type: 'integer', minimum: min } });
}

export function jsonIds() {
  const error = 'expected 1 to 100 ids';
  return z.array(jsonInteger(1), { error }).min(1, { error }).max(100, { error });
}

export function shortText(lengthMax: number) {
  return z
    .string({ error: 'expected a text' })
    .max(lengthMax, { error: `longer than ${lengthMax} characters` });
}

/** A text of at most this many bytes of UTF-8. */
export function boundedText(sizeMax: number) {
  return z.string().refine((value) => Buffer.byteLength(value) <= sizeMax, {
    error: `longer than ${sizeMax} bytes`,
  });
}

export function integerText(
  min: number,
  max: number,
  message = `expected an integer from ${min} to ${max}`,
) {
  return z
    .string({ error: message })
    .refine((text) => /^[0-9]{1,16}$/.test(text), { error: message, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: message })
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });
}

export const PER_PAGE_MAX = 100;
/** For the operator, whose commands read whole lists. */
const OPERATOR_PER_PAGE_MAX = 5_000;

function perPageMessage(max: number): string {
  return `expected an integer from 1 to ${max}`;
}

/** A page size of any length: `checkPageSize` refuses too long ones. */
export function perPageText() {
  return integerText(1, Number.MAX_SAFE_INTEGER, perPageMessage(PER_PAGE_MAX));
}

/** Errors: INVALID_QUERY_PARAMS if the query requests a longer page than the caller may have. */
export function checkPageSize(query: object | undefined, isOperator: boolean): void {
  if (query === undefined || !('perPage' in query)) return;
  const max = isOperator ? OPERATOR_PER_PAGE_MAX : PER_PAGE_MAX;
  if (Number(query.perPage) > max)
    throw new ApiError('INVALID_QUERY_PARAMS', `perPage: ${perPageMessage(max)}`);
}

/** A query value that is an ISO 8601 date or date-time; without an offset it is UTC. */
export function instantText() {
  const message = 'expected an ISO 8601 date or date-time';
  return z
    .string({ error: message })
    .regex(/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/, {
      error: message,
    })
    .transform((text) => (/T.*(?:Z|[+-]\d{2}:\d{2})$|^[^T]*$/.test(text) ? text : `${text}Z`))
    .refine((text) => !Number.isNaN(Date.parse(text)) && isDay(text.slice(0, 10)), {
      error: message,
    })
    .meta({ override: { type: 'string', format: 'date-time' } });
}

/** Why: `Date` takes February 30 for March 2. */
function isDay(text: string): boolean {
  return new Date(text).toJSON()?.startsWith(text) ?? false;
}

export function requiredText() {
  return z.string({ error: 'required' });
}

export function choiceText<const Choices extends readonly [string, ...string[]]>(choices: Choices) {
  return z.enum(choices, { error: `expected ${choices.join(' or ')}` });
}
