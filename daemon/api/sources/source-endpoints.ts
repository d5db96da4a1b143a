// GET /api/source: the content of one file at a ref, or some lines of it.

import { z } from 'zod';
import { blobPageUrl, externalFileUrl } from '../../repos/links.ts';
import { utf8Text } from '../../base/utf8-text.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { READ_ERRORS } from './git-calls.ts';
import { ApiError } from '../shapes/api-error.ts';
import { integerText } from '../shapes/input.ts';
import { linesOf } from './content-lines.ts';
import { fileFields, noteFile, readFile } from './file-reading.ts';
import { longTextJson } from './long-text.ts';
import { codeHostType, text } from '../shapes/schemas.ts';

const LINE_MAX = 1_000_000_000;

const sourceQuery = z.object({
  ...fileFields,
  startLine: integerText(1, LINE_MAX)
    .exactOptional()
    .describe('First line of `source`, 1-based; default: the first line of the file.'),
  endLine: integerText(1, LINE_MAX)
    .exactOptional()
    .describe('Last line of `source`, inclusive; default: the last line of the file.'),
});

type Lines = Pick<z.output<typeof sourceQuery>, 'startLine' | 'endLine'>;

/** Errors: INVALID_QUERY_PARAMS if the last line is before the first. */
function checkLines({ startLine = 1, endLine = LINE_MAX }: Lines): void {
  if (endLine < startLine)
    throw new ApiError('INVALID_QUERY_PARAMS', 'endLine: less than startLine');
}

async function selectedLines(
  bytes: Uint8Array,
  { startLine, endLine }: Lines,
): Promise<Uint8Array> {
  if (startLine === undefined && endLine === undefined) return bytes;
  return await linesOf(bytes, startLine ?? 1, endLine ?? LINE_MAX);
}

const fileSource = z
  .object({
    source: text('The content, or the requested lines; each invalid UTF-8 byte as one U+FFFD.'),
    language: text('Name of the language, "" if unknown.'),
    path: text('As asked.'),
    repo: text('As asked.'),
    repoCodeHostType: codeHostType,
    repoDisplayName: text('Display name of the repository.').optional(),
    repoExternalWebUrl: text('Page of the repository at its code host.').optional(),
    webUrl: text('Page of the file in this instance.'),
    externalWebUrl: text('Page of the file at the code host.').optional(),
    blobSha: text('Git object id of the content.').optional(),
  })
  .meta({ id: 'FileSource', description: 'Content of a file and where it comes from.' });

/** Larger contents are escaped while they are sent. */
const WHOLE_SIZE_MAX = 512 * 1024;

export const getSource = endpoint(
  {
    operationId: 'getFileSource',
    method: 'GET',
    path: '/api/source',
    access: 'opt',
    tag: 'Search & Navigation',
    summary: 'Content of a file',
    isCounted: true,
    input: { query: sourceQuery },
    responses: { 200: { description: 'The file.', body: fileSource } },
    errors: READ_ERRORS,
  },
  async ({ query }, context) => {
    const { path } = query;
    checkLines(query);
    const { repo, ref, content } = await readFile(query, context);
    noteFile(context, repo, path);
    const rest = {
      language: content.language,
      path,
      repo: repo.name,
      repoCodeHostType: repo.codeHostType,
      repoDisplayName: repo.displayName,
      repoExternalWebUrl: repo.webUrl,
      webUrl: blobPageUrl(context.baseUrl, repo.name, ref, path),
      externalWebUrl: externalFileUrl(repo, ref ?? repo.defaultRevision, path),
      blobSha: content.blobSha,
    };
    const bytes = await selectedLines(content.bytes, query);
    if (bytes.length > WHOLE_SIZE_MAX)
      return { status: 200, content: { json: await longTextJson('source', bytes, rest, context) } };
    return ok({ source: utf8Text(bytes), ...rest });
  },
);
