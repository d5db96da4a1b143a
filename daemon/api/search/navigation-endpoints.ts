// POST /api/find_definitions and /api/find_references: definitions and occurrences of a symbol.

import { z } from 'zod';
import { behindMark, utf8Text } from '../../base/utf8-text.ts';
import { ORG } from '../../accounts/audit-log.ts';
import { SYMBOL_NAME_SIZE_MAX } from '../../engine/query/request.ts';
import type { NavigationKind } from '../../engine/search/navigation.ts';
import { type Answer, type CallContext, endpoint, ok } from '../shapes/endpoint.ts';
import { boundedText, jsonInteger } from '../shapes/input.ts';
import { integer, text } from '../shapes/schemas.ts';
import { linesOf } from '../sources/content-lines.ts';
import { fileFields, readFile } from '../sources/file-reading.ts';
import { exhaustiveness, range, repositoryInfo } from './search-schemas.ts';

const position = z
  .object({
    ...fileFields,
    line: jsonInteger(1).meta({ description: 'Line, 1-based.' }),
    column: jsonInteger(1).meta({ description: 'Column, 1-based, in code points.' }),
  })
  .meta({ id: 'NavigationPosition', description: 'A place in a file.' });

const navigationBody = z
  .object({
    symbolName: boundedText(SYMBOL_NAME_SIZE_MAX)
      .min(1)
      .exactOptional()
      .meta({
        description: `Name of the symbol, taken literally; at most ${SYMBOL_NAME_SIZE_MAX} bytes. Required unless \`position\` is given.`,
        examples: ['parseQuery'],
        override: { maxLength: SYMBOL_NAME_SIZE_MAX },
      }),
    position: position.exactOptional().meta({
      description:
        'Instead of `symbolName`: the name at this position; occurrences in the same file and repository come first.',
    }),
    language: z.string().exactOptional().meta({
      description:
        'Name of a language, or another name of it. `C`, `C++`, `Objective-C`, `Objective-C++` and `Cuda` stand for each other; so do `TypeScript`, `JavaScript`, `JSX`, `TSX`, `Vue` and `Svelte`.',
    }),
    revisionName: z.string().default('HEAD').meta({
      description:
        'Full name of an indexed revision, or any that git can resolve; `HEAD`: the default one.',
    }),
    repoName: z.string().exactOptional().meta({
      description: 'Name of the only repository to search.',
    }),
  })
  .refine((body) => (body.symbolName === undefined) !== (body.position === undefined), {
    path: ['symbolName'],
    error: 'give either this or `position`',
  })
  .meta({ id: 'NavigationRequest', description: 'The symbol to find.' });

const foundOccurrence = z
  .object({
    lineContent: text('The whole lines of the range, normally one with its newline.'),
    range,
  })
  .meta({ id: 'NavigationPlace', description: 'An occurrence of the name.' });

const foundFile = z
  .object({
    fileName: text('Path of the file.'),
    repository: text('Name of the repository.'),
    repositoryId: integer('Id of the repository.', 1),
    webUrl: text('Page of the file in this instance.'),
    language: text('Name of the language, "" if unknown.'),
    matches: z.array(foundOccurrence).min(1),
  })
  .meta({ id: 'NavigationFile', description: 'The occurrences in one file.' });

const navigationAnswer = z
  .object({
    symbolName: text('The name at `position`, if that was given and has one.').optional(),
    stats: z.object({ matchCount: integer('Occurrences in this answer.') }),
    files: z.array(foundFile).meta({ description: 'Best first.' }),
    repositoryInfo: z.array(repositoryInfo).meta({
      description: 'The repositories of `files`, in order of first occurrence.',
    }),
    ...exhaustiveness,
  })
  .meta({ id: 'NavigationResponse', description: 'Occurrences of a symbol, at most 1000.' });

export type NavigationResponse = z.infer<typeof navigationAnswer>;

const SHAPE = {
  method: 'POST',
  access: 'opt',
  tag: 'Search & Navigation',
  isSearch: true,
  isCounted: true,
  input: { body: navigationBody },
  responses: { 200: { description: 'The occurrences, best first.', body: navigationAnswer } },
  errors: [
    'REVISION_TOO_LARGE',
    'NOT_FOUND',
    'FILE_NOT_FOUND',
    'INVALID_GIT_REF',
    'SERVER_OVERLOADED',
  ],
} as const;

type Body = z.output<typeof navigationBody>;

const NO_OCCURRENCES = {
  stats: { matchCount: 0 },
  files: [],
  repositoryInfo: [],
  isSearchExhaustive: true,
};

/** Errors: as `readFile`. */
async function nameUnder(
  { line, column, ...request }: z.output<typeof position>,
  context: CallContext,
): Promise<string | undefined> {
  const { content } = await readFile(request, context);
  const text = utf8Text(await linesOf(behindMark(content.bytes), line, line));
  const name = nameAt(text, column, content.language);
  return name !== undefined && Buffer.byteLength(name) <= SYMBOL_NAME_SIZE_MAX ? name : undefined;
}

async function findOccurrences(
  kind: NavigationKind,
  { position: at, symbolName, ...rest }: Body,
  context: CallContext,
): Promise<object> {
  const { search } = context.services;
  if (at === undefined)
    return await search.navigate(kind, { symbolName: symbolName ?? '', ...rest }, context);
  const name = await nameUnder(at, context);
  if (name === undefined) return NO_OCCURRENCES;
  const near = { repoName: at.repo, path: at.path };
  const found = await search.navigate(kind, { symbolName: name, near, ...rest }, context);
  return { symbolName: name, ...found };
}

async function find(kind: NavigationKind, body: Body, context: CallContext): Promise<Answer> {
  const { accounts, actor } = context;
  const done = kind === 'definitions' ? 'goto_definition' : 'find_references';
  accounts.auditLog.note(actor, `user.performed_${done}`, ORG);
  // An empty one counts as absent.
  const revisionName = body.revisionName === '' ? 'HEAD' : body.revisionName;
  return ok(await findOccurrences(kind, { ...body, revisionName }, context));
}

export const findDefinitions = endpoint(
  {
    ...SHAPE,
    operationId: 'findDefinitions',
    path: '/api/find_definitions',
    summary: 'Where a symbol is defined',
  },
  ({ body }, context) => find('definitions', body, context),
);

export const findReferences = endpoint(
  {
    ...SHAPE,
    operationId: 'findReferences',
    path: '/api/find_references',
    summary: 'Where the name of a symbol occurs, including definitions',
  },
  ({ body }, context) => find('references', body, context),
);

/** Signs in names, by language: the inside of a character class. */
const NAME_SIGNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    $: ['TypeScript', 'JavaScript', 'JSX', 'TSX', 'Java', 'Kotlin', 'Scala', 'Groovy'],
    '\\-': ['CSS', 'SCSS'],
    '\\-!?*+<>=': ['Clojure', 'Common Lisp', 'Emacs Lisp', 'Racket', 'Scheme'],
  }).flatMap(([signs, languages]) =>
    languages.map((language): [string, string] => [language, signs]),
  ),
);

/** The name that contains or ends at `column` (code points, 1-based); undefined: none. */
function nameAt(line: string, column: number, language: string): string | undefined {
  const at = Array.from(line)
    .slice(0, column - 1)
    .join('').length;
  const pattern = new RegExp(`[\\p{ID_Continue}${NAME_SIGNS.get(language) ?? ''}]+`, 'gu');
  const found = [...line.matchAll(pattern)].filter(
    ({ index, 0: name }) =>
      index <= at && at <= index + name.length && /[\p{ID_Continue}$]/u.test(name),
  );
  // If two names touch, the one that starts there.
  return found.at(-1)?.[0];
}
