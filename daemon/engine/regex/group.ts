// Parses the heads of groups: names and flags. Refuses look-around, back-references by name, atomic groups, comments.

import { failAt, peek, type RegexFlags, type RegexReader, tryTake } from './reader.ts';

const LOOK_AROUND = 'unsupported group: no look-around; -content:x excludes files that contain x';

/** Reads what follows `(?`. `flags`: flags up to the ")", which apply to the rest of the enclosing group. */
export function readGroupHead(reader: RegexReader, groupStart: number): 'flags' | 'group' {
  if (tryTake(reader, 'P') || peek(reader) === '<') {
    readGroupName(reader, groupStart);
    return 'group';
  }
  let isOn = true;
  let isFlagDue = false;
  for (;;) {
    const character = peek(reader);
    if (character === undefined) failAt(reader, groupStart, 'group without )');
    const changed = changeFlag(reader.flags, character, isOn);
    if (changed !== undefined) {
      reader.flags = changed;
      isFlagDue = false;
    } else if (character === '-' && isOn) {
      isOn = false;
      isFlagDue = true;
    } else if ((character === ')' || character === ':') && !isFlagDue) {
      reader.index++;
      return character === ')' ? 'flags' : 'group';
    } else {
      failAt(reader, reader.index, isLookAround(reader) ? LOOK_AROUND : 'unsupported group');
    }
    reader.index++;
  }
}

function changeFlag(flags: RegexFlags, letter: string, isOn: boolean): RegexFlags | undefined {
  switch (letter) {
    case 'i':
      return { ...flags, isFolded: isOn };
    case 'm':
      return { ...flags, hasLines: isOn };
    case 's':
      return { ...flags, hasNewline: isOn };
    case 'U':
      return { ...flags, isLazy: isOn };
    default:
      return undefined;
  }
}

/** `<name>` of letters, digits and underscores, used once. */
function readGroupName(reader: RegexReader, groupStart: number): void {
  const isNamed = tryTake(reader, '<');
  const start = reader.index;
  if (isNamed) skipWord(reader);
  const name = reader.characters.slice(start, reader.index).join('');
  if (peek(reader) === undefined) failAt(reader, groupStart, 'group without )');
  if (name === '' || peek(reader) !== '>') {
    const isAround = isNamed && name === '' && isLookAround(reader);
    failAt(reader, reader.index, isAround ? LOOK_AROUND : 'bad name or unsupported group');
  }
  if (reader.names.has(name)) failAt(reader, start, `second group named ${name}`);
  reader.names.add(name);
  reader.index++;
}

function isLookAround(reader: RegexReader): boolean {
  return peek(reader) === '=' || peek(reader) === '!';
}

function skipWord(reader: RegexReader): void {
  while (/^\w$/.test(peek(reader) ?? '')) reader.index++;
}
