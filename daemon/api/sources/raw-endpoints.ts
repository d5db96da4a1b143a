// GET /api/raw: bytes of one file at a ref. Browsers must never run them: a short list of types, no sniffing.

import { READ_ERRORS } from './git-calls.ts';
import { z } from 'zod';
import { baseNameOf } from '../../base/paths.ts';
import { encodeSegments } from '../../repos/links.ts';
import { isUnchanged } from '../shapes/asset.ts';
import { endpoint } from '../shapes/endpoint.ts';
import type { Answer, HeaderShape, ResponseShape, TypedBytes } from '../shapes/endpoint.ts';
import { fileFields, noteFile, readFile } from './file-reading.ts';

const DOWNLOAD = 'application/octet-stream';

/** All possible types, without parameters. */
const RAW_TYPES: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/svg+xml',
  'text/plain',
  DOWNLOAD,
];

/** Magic bytes of images, in Latin-1. */
const IMAGE_HEADS: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[^]{4}WEBP/, 'image/webp'],
  [/^[^]{4}ftypavi[fs]/, 'image/avif'],
];

const UTF16_MARKS = ['\xff\xfe', '\xfe\xff'];

/** Text has its charset, and is read to its end, at memory speed. */
function rawTypeOf(path: string, bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = buffer.toString('latin1', 0, 16);
  const image = IMAGE_HEADS.find(([pattern]) => pattern.test(head));
  if (image !== undefined) return image[1];
  if (UTF16_MARKS.some((mark) => head.startsWith(mark))) return 'text/plain; charset=utf-16';
  if (buffer.includes(0)) return DOWNLOAD;
  return /\.svg$/i.test(path) ? 'image/svg+xml' : 'text/plain; charset=utf-8';
}

function header(description: string): HeaderShape {
  return { description, type: 'string', isRequired: true };
}

const FILE_HEADERS: Readonly<Record<string, HeaderShape>> = {
  ETag: header('Identifies the content; a request with it in If-None-Match gets 304.'),
  'Accept-Ranges': header('`bytes`'),
  'Content-Disposition': header(
    '`inline` for images and text, else `attachment`; with the file name.',
  ),
  'Cross-Origin-Resource-Policy': header('`same-origin`'),
};

const FILE: Omit<ResponseShape, 'description'> = {
  body: z.string().meta({ format: 'binary' }),
  contentTypes: RAW_TYPES,
};

const CONTENT_RANGE = header('Range and total number of bytes.');

const RESPONSES = {
  200: { description: 'The file.', ...FILE, headers: FILE_HEADERS },
  206: {
    description: 'The bytes requested by `Range`.',
    ...FILE,
    headers: { ...FILE_HEADERS, 'Content-Range': CONTENT_RANGE },
  },
  304: { description: 'The client has the current version.', headers: FILE_HEADERS },
  416: {
    description: 'The file has no bytes in the requested `Range`.',
    headers: { ...FILE_HEADERS, 'Content-Range': CONTENT_RANGE },
  },
} as const;

/** The name in the form of RFC 8187: no quotes, no control characters, only ASCII. */
function dispositionOf(path: string, type: string): string {
  const name = encodeSegments(baseNameOf(path)).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${type === DOWNLOAD ? 'attachment' : 'inline'}; filename*=UTF-8''${name}`;
}

function rangeFor(
  { headers }: Request,
  etag: string,
  size: number,
): ByteRange | 'none' | undefined {
  const condition = headers.get('if-range');
  if (condition !== null && condition !== etag) return undefined;
  return byteRangeOf(headers.get('range'), size);
}

function answerFor(
  request: Request,
  path: string,
  { bytes, blobSha }: { readonly bytes: Uint8Array; readonly blobSha: string },
): Answer {
  const contentType = rawTypeOf(path, bytes);
  const etag = `"${blobSha}"`;
  const headers = {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    'Content-Disposition': dispositionOf(path, contentType),
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  if (isUnchanged(etag, request.headers.get('if-none-match') ?? undefined))
    return { status: 304, headers, content: { nothing: true } };
  const size = bytes.length;
  const range = rangeFor(request, etag, size);
  if (range === undefined) return { status: 200, headers, content: contentOf(bytes, contentType) };
  const said = range === 'none' ? '*' : `${range.start}-${range.end - 1}`;
  const ranged = { ...headers, 'Content-Range': `bytes ${said}/${size}` };
  if (range === 'none') return { status: 416, headers: ranged, content: { nothing: true } };
  const part = bytes.subarray(range.start, range.end);
  return { status: 206, headers: ranged, content: contentOf(part, contentType) };
}

/** Larger files are counted by their reader. */
const UNCOUNTED_SIZE_MAX = 65_536;

function contentOf(bytes: Uint8Array, contentType: string): TypedBytes {
  return { bytes, contentType, memorySize: Math.min(bytes.length, UNCOUNTED_SIZE_MAX) };
}

export const getRaw = endpoint(
  {
    operationId: 'getRawFile',
    method: 'GET',
    path: '/api/raw',
    access: 'opt',
    tag: 'Search & Navigation',
    summary: 'The bytes of a file',
    isCounted: true,
    input: { query: z.object(fileFields) },
    responses: RESPONSES,
    errors: READ_ERRORS,
  },
  async ({ query }, context) => {
    const { repo, content } = await readFile(query, context, true);
    noteFile(context, repo, query.path);
    return answerFor(context.fetchRequest(), query.path, content);
  },
);

/** Range of bytes; `end` is exclusive. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * RFC 9110, 14.1.2; clipped to `size` bytes; several ranges are ignored, as the standard allows. Undefined: everything.
 * 'none': no byte of the content is in the range.
 */
function byteRangeOf(header: string | null, size: number): ByteRange | 'none' | undefined {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  if (first === '') return atEnd(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start < size ? { start, end } : 'none';
}

function atEnd(count: number, size: number): ByteRange | 'none' {
  return count === 0 || size === 0 ? 'none' : { start: Math.max(0, size - count), end: size };
}
