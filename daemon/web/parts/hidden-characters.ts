// Characters that cannot be seen, or that change the order of text, and how they are shown: as a boxed code. Which ones, and
// their codes.

const CONTROL = String.raw`\u0000-\u0008\u000B-\u001F\u007F-\u009F`;
const FORMAT = String.raw`\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF`;
const LONE_SURROGATE = String.raw`[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]`;

/** Control and format characters but for tab and newline; unpaired surrogates. */
export const HIDDEN = new RegExp(`([${CONTROL}${FORMAT}]|${LONE_SURROGATE})`);

/** The same in what has one line: tabs and newlines too. */
export const HIDDEN_IN_NAME = new RegExp(`([\\t\\n${CONTROL}${FORMAT}]|${LONE_SURROGATE})`);

/** `U+202E` */
export function codeOf(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

const HIDDEN_IN_NAMES = new RegExp(HIDDEN_IN_NAME, 'g');

/** A name where there is room for text alone: a title, a label. */
export function visibleName(name: string): string {
  return name.replaceAll(HIDDEN_IN_NAMES, codeOf);
}

/** A line of code where there is room for text alone: its tabs are no surprise. */
export function visibleLine(line: string): string {
  return visibleName(line.trim().replaceAll('\t', ' '));
}

/** Does a text hold characters that change the order of others? */
export function changesOrder(text: string): boolean {
  return /[\u202A-\u202E\u2066-\u2069]/.test(text);
}
