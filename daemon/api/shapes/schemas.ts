// Schema parts of answers. Answers are not validated by them at run time; the description and the tests use them.

import { z } from 'zod';
import { CODE_HOST_TYPES } from '../../repos/records.ts';
import { ERRORS, type ErrorCode } from './api-error.ts';

/** An integer of at least `min` and below 2^53. */
export function integer(description: string, min = 0) {
  return z
    .int()
    .min(min)
    .max(Number.MAX_SAFE_INTEGER)
    .meta({ format: 'int64', description, examples: [1] });
}

/** ISO 8601, UTC, milliseconds. */
export function time(description: string) {
  return z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ format: 'date-time', description: `${description} ISO 8601, UTC, milliseconds.` });
}

export function nullableTime(description: string) {
  return time(description).nullable();
}

export function isoTime<Value extends number | null>(
  timeMs: Value,
): Value extends number ? string : null;
export function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

export function text(description: string) {
  return z.string().describe(description);
}

export function flag(description: string) {
  return z.boolean().describe(description);
}

export const codeHostType = z
  .enum(CODE_HOST_TYPES)
  .meta({ id: 'CodeHostType', description: 'Kind of code host of a repository.' });

// Safety: the keys of a constant object are those of its type.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

function errorTable(): string {
  const rows = CODES.map((code) => `| ${[code, ...ERRORS[code]].join(' | ')} |`);
  return ['| errorCode | Status | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

export const errorCode = z.enum(CODES).meta({
  id: 'ErrorCode',
  description: `All error codes. Further ones may be added.\n\n${errorTable()}`,
});

export const errorObject = z
  .object({
    statusCode: z.int().min(400).max(599).describe('The HTTP status.'),
    errorCode,
    message: text('For people; clients must not depend on it.'),
  })
  .meta({ id: 'Error', description: 'Every error body is this object.' });

/** Why the content of a file is not searched (API.md 20.4). */
export const SKIP_REASONS = ['too_large', 'too_many_trigrams', 'binary'] as const;
