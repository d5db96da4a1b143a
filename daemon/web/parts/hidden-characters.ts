// Characters that are invisible or change the order of text, and the codes that are displayed for them.

const CONTROL = String.raw`\u0000-\u0008\u000B-\u001F\u007F-\u009F`;
const FORMAT = String.raw`\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF`;
const LONE_SURROGATE = String.raw`[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]`;

/** Control and format characters except tab and newline, and unpaired surrogates. */
export const HIDDEN = new RegExp(`([${CONTROL}${FORMAT}]|${LONE_SURROGATE})`);

/** For single-line text: tab and newline count as hidden, too. */
export const HIDDEN_IN_NAME = new RegExp(`([\\t\\n${CONTROL}${FORMAT}]|${LONE_SURROGATE})`);

/** Such as `U+202E`. */
export function codeOf(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

const HIDDEN_IN_NAMES = new RegExp(HIDDEN_IN_NAME, 'g');

/** A name for places that take only plain text, such as a title or label. */
export function visibleName(name: string): string {
  return name.replaceAll(HIDDEN_IN_NAMES, codeOf);
}

/** A line of code for places that take only plain text. Tabs become spaces. */
export function visibleLine(line: string): string {
  return visibleName(line.trim().replaceAll('\t', ' '));
}

/** Does the text contain characters that change the order of others? */
export function changesOrder(text: string): boolean {
  return /[\u202A-\u202E\u2066-\u2069]/.test(text);
}
