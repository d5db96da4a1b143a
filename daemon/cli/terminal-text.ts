// Text for a terminal: colours, and escapes for characters that would control it or reorder the visible text.

/** A stretch of a text in UTF-16 units, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Palette {
  readonly heading: string;
  readonly lineNumber: string;
  readonly match: string;
  readonly reset: string;
}

export const COLORS: Palette = {
  heading: '\u001b[35m',
  lineNumber: '\u001b[32m',
  match: '\u001b[1;31m',
  reset: '\u001b[0m',
};

export const PLAIN: Palette = { heading: '', lineNumber: '', match: '', reset: '' };

// C0 except tab, DEL, C1, line and paragraph separators, marks that reorder text.
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  const digits = code.toString(16);
  return (
    ESCAPES[character] ??
    (code < 0x100 ? `\\x${digits.padStart(2, '0')}` : `\\u${digits.padStart(4, '0')}`)
  );
}

export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escapeCharacter);
}

/** A file name may contain line ends, and is one line of output. */
export function escapeLineEnds(text: string): string {
  return text.replace(/[\n\r]/g, escapeCharacter);
}

export function keepControls(text: string): string {
  return text;
}

/** Marks ascending `spans` that do not overlap; `base` is the colour of the rest. Escapes every piece. */
export function markSpans(
  text: string,
  spans: readonly Span[],
  palette: Palette,
  base: string,
  escape: (text: string) => string,
): string {
  const paint = (color: string, part: string): string => {
    if (part === '') return '';
    return color === '' ? escape(part) : color + escape(part) + palette.reset;
  };
  let output = '';
  let done = 0;
  for (const { start, end } of spans) {
    if (end <= start) continue;
    output += paint(base, text.slice(done, start)) + paint(palette.match, text.slice(start, end));
    done = end;
  }
  return output + paint(base, text.slice(done));
}
