// Regular expressions made of real text: a piece of a file, generalized at random (classes for characters,
// gaps for words, optional, repeated and absent parts, anchors, flags, other case), so that it matches at
// least there, or nearly. Each is written twice: in the syntax of Trawl, and so that ripgrep understands
// the same by it. Trawl's \d, \s, \w and \b are ASCII, ripgrep's are Unicode: there they are spelled out.

import type { Random } from './samples.ts';

export interface SampleExpression {
  readonly pattern: string;
  /** The same for ripgrep, with --multiline. */
  readonly ripgrep: string;
}

const same = (text: string): SampleExpression => ({ pattern: text, ripgrep: text });

const CLASSES: ReadonlyMap<string, string> = new Map([
  [String.raw`\d`, '[0-9]'],
  [String.raw`\D`, '[^0-9]'],
  [String.raw`\s`, String.raw`[\t\n\x0c\r ]`],
  [String.raw`\S`, String.raw`[^\t\n\x0c\r ]`],
  [String.raw`\w`, '[0-9A-Za-z_]'],
  [String.raw`\W`, '[^0-9A-Za-z_]'],
  [String.raw`\b`, String.raw`(?-u:\b)`],
  [String.raw`\B`, String.raw`(?-u:\B)`],
]);

/** An escape that means ASCII to Trawl, and what may follow it. */
function named(escape: string, suffix = ''): SampleExpression {
  return { pattern: escape + suffix, ripgrep: (CLASSES.get(escape) ?? escape) + suffix };
}

function wrap(before: string, part: SampleExpression, after: string): SampleExpression {
  return { pattern: before + part.pattern + after, ripgrep: before + part.ripgrep + after };
}

function concat(parts: readonly SampleExpression[], between = ''): SampleExpression {
  return {
    pattern: parts.map(({ pattern }) => pattern).join(between),
    ripgrep: parts.map(({ ripgrep }) => ripgrep).join(between),
  };
}

function pick<T>(items: readonly [T, ...T[]], random: Random): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['\n', String.raw`\n`],
  ['\r', String.raw`\r`],
  ['\t', String.raw`\t`],
  // Why: a quote would end a quoted query.
  ['"', String.raw`\x22`],
]);

/** The character as itself, inside and outside of a class. */
function escaped(character: string): string {
  const control = CONTROLS.get(character);
  if (control !== undefined) return control;
  if (/[\p{Cc}\u2028\u2029]/u.test(character)) return asHexadecimal(character);
  return /[\\^$.*+?()[\]{}|&~-]/.test(character) ? `\\${character}` : character;
}

function asHexadecimal(character: string): string {
  return String.raw`\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function swapped(character: string): string {
  const upper = character.toUpperCase();
  const other = upper === character ? character.toLowerCase() : upper;
  return Array.from(other).length === 1 ? other : character;
}

/** A class of which the character is a member. */
function classOf(character: string, random: Random): SampleExpression {
  if (/[a-z]/.test(character)) return pick([same('[a-z]'), named(String.raw`\w`)], random);
  if (/[A-Z]/.test(character)) return pick([same('[A-Z]'), named(String.raw`\w`)], random);
  if (/[0-9]/.test(character))
    return pick([named(String.raw`\d`), named(String.raw`\w`), same('[0-9a-f]')], random);
  if (/[\t\n\f\r ]/.test(character)) return named(String.raw`\s`);
  if (/\p{L}/u.test(character)) return same(String.raw`\p{L}`);
  return pick([named(String.raw`\W`), named(String.raw`\S`), named(String.raw`\D`)], random);
}

function generalizeCharacter(character: string, random: Random): SampleExpression {
  const own = same(escaped(character));
  const choice = random();
  if (choice < 0.62) return own;
  if (choice < 0.68) return character === '\n' ? own : same('.');
  if (choice < 0.74) return classOf(character, random);
  const other = escaped(pick(['a', 'k', 'S', '0', ' ', '(', '\u00e9'], random));
  if (choice < 0.82) return same(`[${escaped(character)}${other}]`);
  if (choice < 0.9) return same(`[^${other}]`);
  if (choice < 0.94) return same(asHexadecimal(character));
  return same(`(?i:${escaped(swapped(character))})`);
}

/** Something that takes the place of a run of characters, which it may match. */
function gap(run: string, random: Random): SampleExpression {
  const size = Array.from(run).length;
  const choices: [SampleExpression, ...SampleExpression[]] = [
    same('.*'),
    same('.*?'),
    same('.+'),
    same(`.{0,${String(size)}}`),
    same(`.{${String(size)}}`),
    same('[^;]*'),
    same('[^;{]+?'),
    same(`(?s:.{0,${String(size + 3)}})`),
    named(String.raw`\w`, '+'),
    named(String.raw`\S`, '*'),
    named(String.raw`\s`, '*'),
    named(String.raw`\W`, `{0,${String(size)}}`),
  ];
  return pick(choices, random);
}

function generalizeRun(run: string, random: Random): SampleExpression {
  const characters = Array.from(run);
  const part = concat(characters.map((character) => generalizeCharacter(character, random)));
  const own = concat(characters.map((character) => same(escaped(character))));
  const head = concat(characters.slice(0, -1).map((character) => same(escaped(character))));
  const choice = random();
  if (choice < 0.35) return part;
  if (choice < 0.5) return own;
  if (choice < 0.7) return gap(run, random);
  if (choice < 0.75) return wrap('(?:', part, pick([')?', ')??', ')*', '){0,2}'], random));
  if (choice < 0.8) return wrap('(', part, pick([')+', '){1,3}', ')+?', '){1}'], random));
  if (choice < 0.84) return wrap('(', part, '|zzqx)');
  if (choice < 0.88) return wrap('(?:absent|', own, ')');
  if (choice < 0.91) return wrap('(', concat([head, own], '|'), ')');
  if (choice < 0.94) return wrap('(', concat([own, head], '|'), ')');
  if (choice < 0.97) return wrap('(?i:', own, ')');
  return wrap('(?-i:', own, ')');
}

function edge(choices: readonly [string, ...string[]], random: Random): SampleExpression {
  return random() < 0.3 ? named(pick(choices, random)) : same('');
}

function generalizeText(characters: readonly string[], random: Random): SampleExpression {
  const parts: SampleExpression[] = [];
  for (let index = 0; index < characters.length;) {
    const size = 1 + Math.floor(random() * 7);
    parts.push(generalizeRun(characters.slice(index, index + size).join(''), random));
    index += size;
  }
  const start = edge([String.raw`\b`, '^', String.raw`\B`, '.*'], random);
  const end = edge([String.raw`\b`, '$', String.raw`\B`, '.*', '[^;]*'], random);
  return concat([start, ...parts, end]);
}

/**
 * An expression that the text, or something like it, matches. Of the same numbers comes the same expression.
 *
 * @param text  some well-formed characters, not empty
 */
export function generalize(text: string, random: Random): SampleExpression {
  const characters = Array.from(text);
  const half = Math.floor(characters.length / 2);
  const isChoice = random() < 0.08 && half > 0;
  const pieces = isChoice ? [characters.slice(0, half), characters.slice(half)] : [characters];
  const whole = concat(
    pieces.map((piece) => generalizeText(piece, random)),
    '|',
  );
  const flags = random() < 0.15 ? pick(['(?i)', '(?-i)', '(?s)', '(?U)', '(?-m)'], random) : '';
  return wrap(flags, whole, '');
}
