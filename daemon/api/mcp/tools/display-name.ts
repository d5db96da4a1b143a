// File names, one per line: one with a line end or an invisible character is written as JSON, which a model can pass
// back. Otherwise a repository could forge lines of results.

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

export function displayName(name: string): string {
  // JSON alone does not escape characters beyond ASCII.
  return name.search(UNPRINTABLE) === -1
    ? name
    : JSON.stringify(name).replaceAll(UNPRINTABLE, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
