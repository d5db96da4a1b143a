// What a file is shown as, by its name and its text. Pure.

/** Pictures that `GET /api/raw` names as such. */
export function isPicture(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|avif)$/i.test(path);
}

export function isDrawing(path: string): boolean {
  return /\.svg$/i.test(path);
}

export function isMarkdown(path: string): boolean {
  return /\.(?:md|markdown|mdown|mkd)$/i.test(path);
}

/** Is it shown as something else than its text? */
export function hasPreview(path: string): boolean {
  return isMarkdown(path) || isDrawing(path);
}

export function isBinary(text: string): boolean {
  return text.includes('\0');
}

const UNITS = ['bytes', 'KB', 'MB', 'GB'] as const;

/** "512 bytes", "80 MB". */
export function sizeText(size: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(size, 1)) / 10), UNITS.length - 1);
  const value = size / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power] ?? ''}`;
}

/** The size in the refusal of a file that is too large; undefined: it is another refusal. */
export function tooLargeSize(message: string): number | undefined {
  const size = /is too large: (\d+) bytes/.exec(message)?.[1];
  return size === undefined ? undefined : Number(size);
}
