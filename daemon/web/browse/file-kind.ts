// How a file is displayed, by its name, and the size of a file that is too large. Pure.

/** Types that `GET /api/raw` serves as images. */
export function isPicture(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|avif)$/i.test(path);
}

export function isDrawing(path: string): boolean {
  return /\.svg$/i.test(path);
}

export function isMarkdown(path: string): boolean {
  return /\.(?:md|markdown|mdown|mkd)$/i.test(path);
}

/** The README among these names, a document before plain text; undefined: none. */
export function readmeOf(names: readonly string[]): string | undefined {
  const all = names.filter((name) => /^readme(?:\.\w+)?$/i.test(name) && !isPicture(name));
  return (
    all.find(isMarkdown) ?? all.find((name) => /^[^.]+(?:\.(?:txt|rst|adoc|org))?$/i.test(name))
  );
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

const LINK_SIZE_MAX = 1024;

/**
 * The path that a text points to, relative to its file. Applies to a file whose whole content is a path: a symbolic
 * link, or a link that was committed as a file on a system without links. Undefined: the text is not such a path.
 */
export function linkedPath(path: string, text: string): string | undefined {
  if (text === '' || text.length > LINK_SIZE_MAX || /^\/|[\n\0]/.test(text)) return undefined;
  const folder = parentOf(path);
  const names = folder === '' ? [] : folder.split('/');
  for (const step of text.split('/'))
    if (step === '..' && names.pop() === undefined) return undefined;
    else if (step !== '..' && step !== '.' && step !== '') names.push(step);
  const target = names.join('/');
  return target === '' || target === path ? undefined : target;
}

/** Can the file be shown other than as text? */
export function hasPreview(path: string): boolean {
  return isMarkdown(path) || isDrawing(path);
}

/** The size in the error for a file that is too large; undefined: a different error. */
export function tooLargeSize(message: string): number | undefined {
  const size = /is too large: (\d+) bytes/.exec(message)?.[1];
  return size === undefined ? undefined : Number(size);
}
