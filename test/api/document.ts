// The API description for tests: typed as far as they read it, of all endpoints or of the described ones.

import { readFileSync } from 'node:fs';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly description?: string;
}

export interface Header {
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Header | { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
  readonly 'x-error-codes'?: readonly string[];
}

export interface Parameter {
  readonly in: 'query' | 'path';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Document {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

export const DOCUMENT_OPTIONS = { baseUrl: 'http://localhost:3000', version: '0.0.0' };

/** Written by the build (write-whole-document.ts). */
export const WHOLE_DOCUMENT_FILE = new URL('whole-document.json', import.meta.url);

/** All endpoints, those of our own pages too. */
export function wholeDocument(): Document {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the build wrote it
  return JSON.parse(readFileSync(WHOLE_DOCUMENT_FILE, 'utf8')) as Document;
}

export interface NamedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** All operations, in order. */
export function operationsOf({ paths }: Document): NamedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  );
}

/** The header itself, where the response only refers to it. */
export function headerOf({ components }: Document, header: Header | { $ref: string }): Header {
  if (!('$ref' in header)) return header;
  const name = header.$ref.replace('#/components/headers/', '');
  const found = components.headers[name];
  if (found === undefined) throw new Error(`no header ${name}`);
  return found;
}
