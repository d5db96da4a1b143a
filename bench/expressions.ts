// Regular expressions made of a piece of real text, generalized at random so that they match it, or nearly. In Trawl's
// syntax; dialect.ts translates them for ripgrep.

import type { Random } from './samples.ts';

function pick<T>(items: readonly [T, ...T[]], random: Random): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['\n', String.raw`\n`],
  ['\r', String.raw`\r`],
  ['\t', String.raw`\t`],
  // A quote would end a quoted query.
  ['"', String.raw`\x22`],
]);

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

function classOf(character: string, random: Random): string {
  if (/[a-z]/.test(character)) return pick(['[a-z]', String.raw`\w`], random);
  if (/[A-Z]/.test(character)) return pick(['[A-Z]', String.raw`\w`], random);
  if (/[0-9]/.test(character)) return pick([String.raw`\d`, String.raw`\w`, '[0-9a-f]'], random);
  if (/[\t\n\f\r ]/.test(character)) return String.raw`\s`;
  if (/\p{L}/u.test(character)) return String.raw`\p{L}`;
  return pick([String.raw`\W`, String.raw`\S`, String.raw`\D`], random);
}

function generalizeCharacter(character: string, random: Random): string {
  const own = escaped(character);
  const choice = random();
  if (choice < 0.62) return own;
  if (choice < 0.68) return character === '\n' ? own : '.';
  if (choice < 0.74) return classOf(character, random);
  const other = escaped(pick(['a', 'k', 'S', '0', ' ', '(', '\u00e9'], random));
  if (choice < 0.82) return `[${escaped(character)}${other}]`;
  if (choice < 0.9) return `[^${other}]`;
  if (choice < 0.94) return asHexadecimal(character);
  return `(?i:${escaped(swapped(character))})`;
}

function gap(run: string, random: Random): string {
  const size = Array.from(run).length;
  const choices: [string, ...string[]] = [
    '.*',
    '.*?',
    '.+',
    `.{0,${String(size)}}`,
    `.{${String(size)}}`,
    '[^;]*',
    '[^;{]+?',
    `(?s:.{0,${String(size + 3)}})`,
    String.raw`\w+`,
    String.raw`\S*`,
    String.raw`\s*`,
    `\\W{0,${String(size)}}`,
  ];
  return pick(choices, random);
}

function generalizeRun(run: string, random: Random): string {
  const characters = Array.from(run);
  const part = characters.map((character) => generalizeCharacter(character, random)).join('');
  const own = characters.map(escaped).join('');
  const head = characters.slice(0, -1).map(escaped).join('');
  const choice = random();
  if (choice < 0.35) return part;
  if (choice < 0.5) return own;
  if (choice < 0.7) return gap(run, random);
  if (choice < 0.75) return `(?:${part}${pick([')?', ')??', ')*', '){0,2}'], random)}`;
  if (choice < 0.8) return `(${part}${pick([')+', '){1,3}', ')+?', '){1}'], random)}`;
  if (choice < 0.84) return `(${part}|zzqx)`;
  if (choice < 0.88) return `(?:absent|${own})`;
  if (choice < 0.91) return `(${head}|${own})`;
  if (choice < 0.94) return `(${own}|${head})`;
  if (choice < 0.97) return `(?i:${own})`;
  return `(?-i:${own})`;
}

function edge(choices: readonly [string, ...string[]], random: Random): string {
  return random() < 0.3 ? pick(choices, random) : '';
}

function generalizeText(characters: readonly string[], random: Random): string {
  const parts: string[] = [];
  for (let index = 0; index < characters.length;) {
    const size = 1 + Math.floor(random() * 7);
    parts.push(generalizeRun(characters.slice(index, index + size).join(''), random));
    index += size;
  }
  const start = edge([String.raw`\b`, '^', String.raw`\B`, '.*'], random);
  const end = edge([String.raw`\b`, '$', String.raw`\B`, '.*', '[^;]*'], random);
  return [start, ...parts, end].join('');
}

/** `text`: some well-formed characters, not empty. The same random numbers give the same expression. */
export function generalize(text: string, random: Random): string {
  const characters = Array.from(text);
  const half = Math.floor(characters.length / 2);
  const isChoice = random() < 0.08 && half > 0;
  const parts = isChoice ? [characters.slice(0, half), characters.slice(half)] : [characters];
  const whole = parts.map((part) => generalizeText(part, random)).join('|');
  const flags = random() < 0.15 ? pick(['(?i)', '(?-i)', '(?s)', '(?U)', '(?-m)'], random) : '';
  return flags + whole;
}
