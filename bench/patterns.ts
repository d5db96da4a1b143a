// Regular expressions made from drawn literals, so that most match. Only what all dialects support (dialect.ts).

import { escapeLiteral } from './dialect.ts';
import type { Random, Sample } from './samples.ts';

/** Narrower ones first. */
const STAND_INS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/[0-9]/, ['\\d', '[0-9]', '\\d+', '\\w']],
  [/[A-Z]/, ['[A-Z]', '\\w', '[A-Z]+', '[^a-z\\s]+']],
  [/[a-z_]/, ['[a-z_]', '\\w', '\\w+', '\\w*', '[a-z]+?', '\\w{1,4}']],
  [/\s/, ['\\s', '\\s+', '[ \\t]+', '\\s*']],
];

function pick(items: readonly string[], random: Random): string {
  return items[Math.floor(random() * items.length)] ?? '';
}

function standIn(character: string, random: Random): string {
  const choices = STAND_INS.find(([kind]) => kind.test(character))?.[1];
  return choices && random() < 0.3 ? pick(choices, random) : escapeLiteral(character);
}

/** Neither is empty; undefined: too short. */
function halves(literal: string, random: Random): [string, string] | undefined {
  const characters = Array.from(literal);
  if (characters.length < 2) return undefined;
  const at = 1 + Math.floor(random() * (characters.length - 1));
  return [characters.slice(0, at).join(''), characters.slice(at).join('')];
}

function classesIn(literal: string, random: Random): string {
  return Array.from(literal, (character) => standIn(character, random)).join('');
}

function gapIn(literal: string, random: Random): string {
  const [head, tail] = halves(literal, random) ?? [literal, literal];
  const gap = pick(['.*', '.*?', '.+', '\\s*', '[^;]*', '\\W+', '\\w*', '(?:\\s|,)+'], random);
  return `${escapeLiteral(head)}${gap}${escapeLiteral(tail)}`;
}

function alternativesOf(literal: string, other: string, random: Random): string {
  const [head, tail] = halves(literal, random) ?? [literal, literal];
  const [first, second] = [escapeLiteral(tail), escapeLiteral(other)];
  return random() < 0.5
    ? `${escapeLiteral(literal)}|${second}`
    : `${escapeLiteral(head)}(${first}|${second})`;
}

function anchored(literal: string, random: Random): string {
  const text = escapeLiteral(literal);
  return pick([`\\b${text}`, `${text}\\b`, `\\B${text}`, `^\\s*${text}`, `${text}.*$`], random);
}

export function drawPatterns(samples: readonly Sample[], random: Random): Sample[] {
  const drawn = samples.map(({ literal }, i) => {
    const other = samples[(i + 1) % samples.length]?.literal ?? literal;
    const make = [classesIn, gapIn, anchored][i % 4];
    return make ? make(literal, random) : alternativesOf(literal, other, random);
  });
  return [...new Set(drawn)].map((literal) => ({ kind: 'expression', literal, isRegex: true }));
}
