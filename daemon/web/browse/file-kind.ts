// What a file is shown as, by its name; how large one is that is not shown. Pure.

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

/** Which of the names is what a folder says of itself: a document rather than a plain text; undefined: none. */
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
 * The path that a text names, seen from the file that has it: where that is all of the file it is a symbolic link, or was one
 * before it was committed where there are none. Undefined: it names none.
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

/** Is it shown as something else than its text? */
export function hasPreview(path: string): boolean {
  return isMarkdown(path) || isDrawing(path);
}

/** The size in the refusal of a file that is too large; undefined: it is another refusal. */
export function tooLargeSize(message: string): number | undefined {
  const size = /is too large: (\d+) bytes/.exec(message)?.[1];
  return size === undefined ? undefined : Number(size);
}
