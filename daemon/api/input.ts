// Reading of request input by zod schemas, and the building blocks of those schemas that every endpoint
// shares: integers in JSON, integers in query text, pages. A failure always names the field or parameter.

import { z } from 'zod';
import { ApiError } from './errors.ts';
import type { ErrorCode } from './errors.ts';

/**
 * The body as its schema sees it; unknown keys are dropped.
 * Errors: INVALID_REQUEST_BODY.
 */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  json: unknown,
): z.output<Schema> {
  return parseWith(schema, json, 'INVALID_REQUEST_BODY', 'body');
}

/**
 * The query parameters as their schema sees them: of a repeated parameter the first value counts, unknown
 * ones are dropped, an empty value is an empty string.
 * Errors: INVALID_QUERY_PARAMS.
 */
export function parseQuery<Schema extends z.ZodType>(
  schema: Schema,
  rawQuery: string,
): z.output<Schema> {
  const first = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    if (!first.has(name)) first.set(name, value);
  }
  return parseWith(schema, Object.fromEntries(first), 'INVALID_QUERY_PARAMS', 'query');
}

function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  errorCode: ErrorCode,
  whole: string,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const place = issue === undefined || issue.path.length === 0 ? whole : issue.path.join('.');
  throw new ApiError(errorCode, `${place}: ${issue?.message ?? 'invalid'}`);
}

/** A JSON number that is an integer of at least `min`, however written (`100`, `1e2`, `100.0`). */
export function jsonInteger(min: number): z.ZodType<number> {
  const message = `expected an integer >= ${min}`;
  return z
    .number({ error: message })
    .refine((value) => Number.isInteger(value) && value >= min, { error: message });
}

/** A query value that is a decimal integer in [min, max]. */
export function integerText(min: number, max: number) {
  const message = `expected an integer from ${min} to ${max}`;
  return z
    .string({ error: message })
    .regex(/^[0-9]{1,16}$/, { error: message })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: message });
}

/** A required query value; the empty string is a value. */
export function requiredText() {
  return z.string({ error: 'required' });
}

/** A query value out of a fixed set. */
export function choiceText<const Choices extends readonly [string, ...string[]]>(choices: Choices) {
  return z.enum(choices, { error: `expected ${choices.join(' or ')}` });
}
