// The content type of a raw file. Only images and plain text are declared as such; anything else is a download, so that
// nothing of a repository is ever a page or script of this origin.

const DOWNLOAD = 'application/octet-stream';

/** All possible types, without parameters. */
export const RAW_TYPES: readonly string[] = [
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
const HEAD_SIZE = 16;

const UTF16_MARKS = ['\xff\xfe', '\xfe\xff'];

/**
 * The content type of a file; text has its charset. Cost: text is read to its end, at memory speed.
 */
export function rawTypeOf(path: string, bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = buffer.toString('latin1', 0, HEAD_SIZE);
  const image = IMAGE_HEADS.find(([pattern]) => pattern.test(head));
  if (image !== undefined) return image[1];
  if (UTF16_MARKS.some((mark) => head.startsWith(mark))) return 'text/plain; charset=utf-16';
  if (buffer.includes(0)) return DOWNLOAD;
  return /\.svg$/i.test(path) ? 'image/svg+xml' : 'text/plain; charset=utf-8';
}

/** Whether a browser shows this type instead of saving it. */
export function isDisplayable(type: string): boolean {
  return type !== DOWNLOAD;
}
