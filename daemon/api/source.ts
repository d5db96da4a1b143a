// GET /api/source: the content of one file at a ref. Order of the checks: repo, path syntax, ref syntax,
// then what the reader finds.

import { z } from 'zod';
import { blobPageUrl, externalFileUrl } from '../repos/links.ts';
import { ok, queryEndpoint } from './endpoint.ts';
import { ApiError } from './errors.ts';
import { checkPath, checkRef } from './git-names.ts';
import { requiredText } from './input.ts';

const sourceQuery = z.object({
  path: requiredText(),
  repo: requiredText(),
  ref: z.string().optional(),
});

export const getSource = queryEndpoint(
  { operationId: 'getFileSource', path: '/api/source', access: 'opt' },
  sourceQuery,
  async (query, { services, settings, signal, baseUrl }) => {
    const { path } = query;
    // Why: an empty optional ref counts as absent, unlike any other empty value.
    const ref = query.ref === '' ? undefined : query.ref;
    const repo = services.repos.byName(query.repo);
    if (repo === undefined) {
      throw new ApiError('NOT_FOUND', `Repository "${query.repo}" not found.`);
    }
    checkPath(path);
    if (ref !== undefined) checkRef(ref);
    const content = await services.source.read(repo, path, ref, {
      sourceSizeMax: settings.maxSourceBytes,
      signal: AbortSignal.any([signal, AbortSignal.timeout(settings.gitTimeoutMs)]),
    });
    return ok({
      source: Buffer.from(content.bytes).toString('utf8'),
      language: content.language,
      path,
      repo: repo.name,
      repoCodeHostType: repo.codeHostType,
      repoDisplayName: repo.displayName,
      repoExternalWebUrl: repo.webUrl,
      webUrl: blobPageUrl(baseUrl, repo.name, ref, path),
      externalWebUrl: externalFileUrl(repo, ref ?? repo.defaultRevision, path),
      blobSha: content.blobSha,
    });
  },
);
