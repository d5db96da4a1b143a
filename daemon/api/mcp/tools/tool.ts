// A tool: its name, description and argument schema, and a function that returns text. Knows nothing of the protocol.

import { z } from 'zod';
import { ApiError } from '../../shapes/api-error.ts';
import type { CallContext } from '../../shapes/endpoint.ts';
import { parseBody } from '../../shapes/input.ts';
import { coercedArguments } from './tool-arguments.ts';

export interface ToolContext extends CallContext {
  /** Undefined: nobody requested progress. */
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

export interface ToolProgress {
  readonly done: number;
  readonly total: number;
  /** The unit, in words. */
  readonly message?: string;
}

interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Record<string, { readonly type?: unknown }>;
  readonly required?: string[];
  readonly [key: string]: unknown;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly isSearch: boolean;
  readonly inputSchema: ArgumentsSchema;
  /** Errors: INVALID_REQUEST_BODY naming the argument; those of what it calls. */
  run(args: unknown, context: ToolContext): Promise<string>;
}

interface ToolShape<Schema extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly isSearch?: boolean;
  /** Strict: an unknown argument is an error. */
  readonly input: Schema;
}

export function tool<Schema extends z.ZodObject>(
  { name, description, isSearch = false, input }: ToolShape<Schema>,
  answer: (args: z.output<Schema>, context: ToolContext) => Promise<string> | string,
): Tool {
  const inputSchema = jsonSchemaOf(input);
  return {
    name,
    description,
    isSearch,
    inputSchema,
    async run(args, context) {
      let read;
      try {
        read = parseBody(input, coercedArguments(args ?? {}, inputSchema.properties), 'arguments');
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        throw new ApiError(
          error.errorCode,
          `${error.message}; ${name} takes ${takenBy(inputSchema)}`,
        );
      }
      return await answer(read, context);
    },
  };
}

/** Names of the arguments; `?`: optional. */
function takenBy({ properties, required = [] }: ArgumentsSchema): string {
  const names = Object.keys(properties);
  return names.map((name) => (required.includes(name) ? name : `${name}?`)).join(', ');
}

/** Bytes of a text argument; an expression has the same limit (engine/regex/syntax.ts). */
const TEXT_SIZE_MAX = 4096;

/** Errors: INVALID_REQUEST_BODY. */
export function checkSizes(args: unknown): void {
  if (typeof args !== 'object' || args === null) return;
  for (const [name, value] of Object.entries(args))
    if (typeof value === 'string' && Buffer.byteLength(value) > TEXT_SIZE_MAX)
      throw new ApiError('INVALID_REQUEST_BODY', `${name}: longer than ${TEXT_SIZE_MAX} bytes`);
}

/** With field descriptions that the schema cannot express (api/shapes/input.ts). */
function jsonSchemaOf(input: z.ZodObject): ArgumentsSchema {
  const {
    $schema: _,
    properties = {},
    ...schema
  } = z.toJSONSchema(input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      const { override } = jsonSchema;
      delete jsonSchema['override'];
      if (typeof override === 'object') Object.assign(jsonSchema, override);
    },
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no field's schema is a mere boolean
  return { ...schema, type: 'object', properties: properties as ArgumentsSchema['properties'] };
}
