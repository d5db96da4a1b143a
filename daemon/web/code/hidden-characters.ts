// Characters that cannot be seen, or that change the order of text, and how they are shown: as a boxed code. Which ones, and
// their codes.

/** Control and format characters but for tab and newline; unpaired surrogates. */
export const HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /([\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF])/;

/** `U+202E` */
export function codeOf(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Does a text hold characters that change the order of others? */
export function changesOrder(text: string): boolean {
  return /[\u202A-\u202E\u2066-\u2069]/.test(text);
}
