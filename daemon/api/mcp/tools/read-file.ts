// The tool `read_file`: numbered lines of a file at any revision.

import { z } from 'zod';
import { blobPageUrl } from '../../../repos/links.ts';
import { behindMark, utf8Start, utf8Text } from '../../../base/utf8-text.ts';
import { ApiError } from '../../shapes/api-error.ts';
import { jsonInteger } from '../../shapes/input.ts';
import { lineCountOf, linesOf } from '../../sources/content-lines.ts';
import { noteFile, readFile } from '../../sources/file-reading.ts';
import { displayName } from './bounded-text.ts';
import { aboveMost, requestedRepo, pathField, repoField } from './tool-arguments.ts';
import { tool } from './tool.ts';

const LINES_MAX = 500;
/** Bytes of lines in a result; a longer line is cut. */
const SIZE_MAX = 5120;

const NUL = 0;

export const readFileTool = tool(
  {
    name: 'read_file',
    description:
      'Read lines of a file. Shows at most 500 lines or 5 KB; the last line says how to continue.',
    input: z.strictObject({
      path: pathField('Path from the root of the repository.'),
      repo: repoField,
      ref: z.string().default('HEAD').describe('Branch, tag or commit.'),
      offset: jsonInteger(1).default(1).describe('First line.'),
      limit: jsonInteger(1).default(LINES_MAX).describe('Lines, at most 500.'),
    }),
  },
  async ({ offset, limit, ...request }, context) => {
    const ref = request.ref === 'HEAD' ? undefined : request.ref;
    const { name } = requestedRepo(request.repo, context);
    const { repo, content } = await readFile({ path: request.path, repo: name, ref }, context);
    noteFile(context, repo, request.path);
    const { bytes } = content;
    const head = [
      `<repo>${repo.name}</repo>`,
      `<path>${displayName(request.path)}</path>`,
      ...(context.hasPages
        ? [`<url>${blobPageUrl(context.baseUrl, repo.name, ref, request.path)}</url>`]
        : []),
    ];
    if (bytes.includes(NUL)) return [...head, `(binary file of ${bytes.length} bytes)`].join('\n');
    const total = await lineCountOf(bytes);
    if (offset > Math.max(total, 1))
      throw new ApiError(
        'INVALID_REQUEST_BODY',
        `offset: the file has ${total} lines; call again with an offset from 1 to ${Math.max(total, 1)}`,
      );
    const last = offset + Math.min(limit, LINES_MAX) - 1;
    const text = utf8Text(await linesOf(behindMark(bytes), offset, last)).replace(/\n$/, '');
    const lines = total === 0 ? [] : numbered(text.split('\n'), offset);
    const end = offset + lines.length - 1;
    const numberedLines = ['<content>', ...lines, '</content>'];
    const notes = aboveMost({ limit: [limit, LINES_MAX] });
    return [...head, ...numberedLines, ...notes, rest(offset, end, total)].join('\n');
  },
);

function numbered(lines: readonly string[], first: number): string[] {
  const numberedLines: string[] = [];
  let remaining = SIZE_MAX;
  for (const [index, line] of lines.entries()) {
    const size = Buffer.byteLength(line) + 1;
    if (size > remaining && index > 0) break;
    const isCut = size > SIZE_MAX;
    const text = isCut
      ? `${utf8Start(line, SIZE_MAX)}… (cut, the line has ${size - 1} bytes)`
      : line;
    numberedLines.push(`${first + index}: ${text.replace(/\r$/, '')}`);
    remaining -= size;
    if (remaining < 0) break;
  }
  return numberedLines;
}

function rest(first: number, last: number, total: number): string {
  if (total === 0) return '(the file is empty)';
  if (last >= total) return `(lines ${first} to ${last}: the end of the file)`;
  return `(lines ${first} to ${last} of ${total}; continue with offset ${last + 1})`;
}
