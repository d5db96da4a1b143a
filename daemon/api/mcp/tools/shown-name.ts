// Names of files in texts where each has a line: one with a character that ends a line, or does not show, is written as JSON, as
// a model hands it back. Else a repository could write lines of results by what it calls its files.

const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

export function shownName(name: string): string {
  // Why not all by JSON: it leaves what is behind ASCII as it is.
  return name.search(UNSHOWN) === -1 ? name : JSON.stringify(name).replaceAll(UNSHOWN, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
