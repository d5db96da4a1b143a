// What stand-ins for code hosts answer has to have the shape that the host's reference gives it: the stand-in is checked with
// each answer, so that no test passes against a host that there is not.

import assert from 'node:assert/strict';
import { Ajv, type SchemaObject } from 'ajv';

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true });

/** Returns the value, which has the shape. */
export function shapedBy(schema: SchemaObject): <Value>(value: Value) => Value {
  const validate = ajv.compile(schema);
  return (value) => {
    assert.ok(validate(value), ajv.errorsText(validate.errors));
    return value;
  };
}

/** An object with these members, all of them there but those named. */
export function objectOf(
  properties: Readonly<Record<string, SchemaObject>>,
  optional: readonly string[] = [],
): SchemaObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

export const TEXT: SchemaObject = { type: 'string' };
export const TEXT_OR_NULL: SchemaObject = { type: ['string', 'null'] };
export const INTEGER: SchemaObject = { type: 'integer' };
export const FLAG: SchemaObject = { type: 'boolean' };
export const TIME: SchemaObject = {
  type: 'string',
  pattern: String.raw`^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$`,
};
export const WEB: SchemaObject = { type: 'string', pattern: '^https?://' };

export function listOf(items: SchemaObject): SchemaObject {
  return { type: 'array', items };
}
