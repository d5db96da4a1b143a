// The JSON schema of the configuration file: it accepts what the daemon accepts, refuses wrong shapes, and describes
// each key.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'jsonc-parser';
import { parseConfiguration } from '../../../daemon/base/config/file.ts';
import { schemaDocument } from '../../../daemon/base/config/schema-document.ts';
import { filesBelow } from '../../structure/imports.ts';
import { WRONG_FILES } from './wrong-files.ts';

const ajv = new Ajv({
  allErrors: true,
  // What editors of JSON with comments look for.
  keywords: ['allowComments', 'allowTrailingCommas'],
  formats: { email: /^\S+@\S+$/ },
});
const isValid = ajv.compile(schemaDocument());

function valueOf(text: string): unknown {
  return parse(text, [], { allowTrailingComma: true });
}

/** The configuration files that the documents show. */
function examples(): string[] {
  const files = ['README.md', ...filesBelow('daemon', '.md')];
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/```jsonc\n([\s\S]*?)```/g)].map(
      ([, text = '']) => text,
    ),
  );
}

void test('the schema and the daemon accept the examples of the documents', () => {
  assert.ok(examples().length >= 10);
  for (const text of examples()) {
    parseConfiguration('f', text);
    assert.ok(isValid(valueOf(text)), `${text} ${ajv.errorsText(isValid.errors)}`);
  }
});

void test('the schema refuses wrong shapes; only the daemon checks rules between keys', () => {
  for (const { text, isShape } of WRONG_FILES) {
    const value = valueOf(text);
    if (value === undefined) continue;
    assert.equal(isValid(value), !isShape, text);
  }
});

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly oneOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
}

/** Keys without a description, by path. */
function silent({ properties = {}, ...node }: Node, where: string): string[] {
  const others = typeof node.additionalProperties === 'object' ? [node.additionalProperties] : [];
  const below = [
    ...others,
    ...(node.items ? [node.items] : []),
    ...(node.oneOf ?? []),
    ...(node.anyOf ?? []),
  ];
  return [
    ...below.flatMap((one) => silent(one, `${where}.*`)),
    ...Object.entries(properties).flatMap(([key, one]) => [
      ...(one.description === undefined ? [`${where}.${key}`] : []),
      ...silent(one, `${where}.${key}`),
    ]),
  ];
}

void test('every key has a description, and none mentions this machine', () => {
  assert.deepEqual(silent(schemaDocument(), ''), []);
  const { properties } = (schemaDocument() as { properties: { settings: { properties: object } } })
    .properties.settings;
  assert.equal('default' in (Reflect.get(properties, 'maxConcurrentSearches') as object), false);
  assert.equal(Reflect.get(Reflect.get(properties, 'maxMatchCount') as object, 'default'), 100000);
});
