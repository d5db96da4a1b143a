// JSON schema of the configuration file for editors, generated from the zod schema (file-schema.ts) with its descriptions.
// It covers the shape; rules across several keys are checked only by the daemon. Also lists the valid keys of an object.

import { z } from 'zod';
import { fileSchema } from './file-schema.ts';
import { DEFAULT_NOTES } from './settings.ts';

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly const?: unknown;
  default?: unknown;
}

let made: SchemaNode | undefined;

/** The schema, draft 7, which editors know best. */
export function schemaDocument(): object {
  return document();
}

function document(): SchemaNode {
  if (made !== undefined) return made;
  const { $schema, ...rest } = z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-7' });
  const title = 'Configuration of Trawl';
  // Safety: a JSON schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  made = { $schema, title, allowComments: true, allowTrailingCommas: true, ...rest } as SchemaNode;
  const settings = made.properties?.['settings']?.properties ?? {};
  // They may depend on this machine.
  for (const key of Object.keys(DEFAULT_NOTES)) delete settings[key]?.default;
  return made;
}

/**
 * Valid keys of the object at a path in the file. `content` is the file: the keys of a connection depend on its type.
 */
export function allowedKeys(path: readonly PropertyKey[], content: unknown): readonly string[] {
  let node: SchemaNode | undefined = document();
  let value = content;
  for (const key of path) {
    node = inner(chosen(node, value), String(key));
    value = memberOf(value, key);
  }
  return Object.keys(chosen(node, value)?.properties ?? {});
}

function inner(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  const schema = node?.properties?.[key] ?? node?.items;
  if (schema !== undefined) return schema;
  const others = node?.additionalProperties;
  return typeof others === 'object' ? others : undefined;
}

/** Of several alternatives, the one of the value's type. */
function chosen(node: SchemaNode | undefined, value: unknown): SchemaNode | undefined {
  const type = memberOf(value, 'type');
  return (
    (node?.oneOf ?? node?.anyOf)?.find((one) => one.properties?.['type']?.const === type) ?? node
  );
}

export function memberOf(value: unknown, key: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}
