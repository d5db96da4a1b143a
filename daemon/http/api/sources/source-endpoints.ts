// GET /api/source: the content of one file at a ref. Order of the checks: repo, path syntax, ref syntax,
// then what the reader finds.

import { z } from 'zod';
import { checkPath, checkRef } from '../../../sources/git/names.ts';
import { blobPageUrl, externalFileUrl } from '../../../repos/links.ts';
import { utf8Text } from '../../../base/utf8-text.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { findRepo, gitSignal } from './git-calls.ts';
import { requiredText } from '../shapes/input.ts';
import { longTextJson } from './long-text.ts';
import { codeHostType, text } from '../shapes/schemas.ts';

const sourceQuery = z.object({
  path: requiredText().meta({ description: 'Path from the root of the repository.' }),
  repo: requiredText().meta({ description: 'Name of the repository.' }),
  ref: z.string().optional().meta({
    description: 'Branch, tag or commit; default: the default branch. Empty counts as absent.',
  }),
});

const fileSource = z
  .object({
    source: text('The content; each bad UTF-8 byte as one U+FFFD.'),
    language: text('Name of the language, "" if unknown.'),
    path: text('As asked.'),
    repo: text('As asked.'),
    repoCodeHostType: codeHostType,
    repoDisplayName: text('Name of the repository for people.').optional(),
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
    errors: ['NOT_FOUND', 'FILE_NOT_FOUND', 'INVALID_GIT_REF', 'SERVER_OVERLOADED'],
  },
  async ({ query }, context) => {
    const { services, settings, baseUrl, accounts, actor } = context;
    const { path } = query;
    // Why: an empty optional ref counts as absent, unlike any other empty value.
    const ref = query.ref === '' ? undefined : query.ref;
    const repo = findRepo(query.repo, context);
    checkPath(path);
    if (ref !== undefined) checkRef(ref);
    const content = await services.source.read(repo, path, ref, {
      sizeMax: settings.maxSourceBytes,
      holder: context.holder,
      memory: context.memory,
      signal: gitSignal(context),
    });
    accounts.trail.note(actor, 'user.fetched_file_source', {
      id: `${repo.name}/${path}`,
      type: 'file',
    });
    const rest = {
      language: content.language,
      path,
      repo: repo.name,
      repoCodeHostType: repo.codeHostType,
      repoDisplayName: repo.displayName,
      repoExternalWebUrl: repo.webUrl,
      webUrl: blobPageUrl(baseUrl, repo.name, ref, path),
      externalWebUrl: externalFileUrl(repo, ref ?? repo.defaultRevision, path),
      blobSha: content.blobSha,
    };
    if (content.bytes.length > WHOLE_SIZE_MAX)
      return {
        status: 200,
        content: { json: await longTextJson('source', content.bytes, rest, context) },
      };
    return ok({ source: utf8Text(content.bytes), ...rest });
  },
);
