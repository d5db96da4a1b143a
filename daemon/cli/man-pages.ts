// The man pages of `trawl` and its commands, in the macros of man(7), made from the definitions of the commands. Pure.

import { type CommandShape, allOf } from './command-shape.ts';

export interface PageFacts {
  readonly version: string;
  /** ISO 8601. */
  readonly date: string;
}

/** By file name, such as `trawl-search.1`. A command with commands of its own has them on its page. */
export function manPages(program: CommandShape, facts: PageFacts): ReadonlyMap<string, string> {
  const pages = program.commands.map((one): [string, string] => [
    `trawl-${one.path}.1`,
    pageOf(one, program, facts),
  ]);
  return new Map([['trawl.1', pageOf(program, program, facts)], ...pages]);
}

const EXIT_STATUS = ['success, or a match', 'no match, or problems were found', 'error'].flatMap(
  (text, code) => ['.TP', `.B ${code}`, text],
);

function pageOf(shape: CommandShape, program: CommandShape, { version, date }: PageFacts): string {
  const name = `trawl-${shape.path}`.replace(/-$/, '');
  const isProgram = shape === program;
  const parts = isProgram ? [shape] : allOf(shape);
  return [
    `.TH ${name.toUpperCase()} 1 ${date} "trawl ${version}"`,
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(isProgram ? 'code search' : shape.summary)}`,
    '.SH SYNOPSIS',
    ...parts
      .filter(({ commands }) => isProgram || commands.length === 0)
      .flatMap(synopsis)
      .slice(1),
    ...section('DESCRIPTION', paragraphs(shape.description)),
    ...section('COMMANDS', isProgram ? shape.commands.flatMap(commandItem) : []),
    ...parts.flatMap((part) => optionSection(part, part === shape)),
    ...section('EXAMPLES', parts.flatMap(({ examples }) => examples).flatMap(exampleItem)),
    '.SH EXIT STATUS',
    ...EXIT_STATUS,
    ...section('SEE ALSO', isProgram ? seeAlso(program) : ['.BR trawl (1)']),
    '',
  ].join('\n');
}

function section(name: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`.SH ${name}`, ...lines];
}

function synopsis({ path, usage }: CommandShape): string[] {
  return ['.br', `.B ${escaped(`trawl ${path}`.trim())}`, escaped(usage)];
}

function optionSection(shape: CommandShape, isFirst: boolean): readonly string[] {
  const { path, description, options, commands } = shape;
  const items = options.flatMap((option) => [
    '.TP',
    `.B ${escaped(option.flags)}`,
    ...sentences(withDefaults(option)),
  ]);
  if (isFirst) return section('OPTIONS', commands.length > 0 && path !== '' ? [] : items);
  return [`.SH ${escaped(`trawl ${path}`.toUpperCase())}`, ...paragraphs(description), ...items];
}

function withDefaults({
  description,
  argChoices,
  defaultValue,
  envVar,
}: CommandShape['options'][number]): string {
  const facts = [
    ...(argChoices === undefined ? [] : [`one of: ${argChoices.join(', ')}`]),
    ...(['string', 'number'].includes(typeof defaultValue) ? [`default: ${defaultValue}`] : []),
    ...(envVar === undefined ? [] : [`environment: ${envVar}`]),
  ];
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`;
}

function commandItem({ path, summary }: CommandShape): string[] {
  return ['.TP', `.BR trawl\\-${escaped(path)} (1)`, ...sentences(summary)];
}

function exampleItem(example: string): string[] {
  return ['.TP', `.B ${escaped(example)}`];
}

function seeAlso({ commands }: CommandShape): string[] {
  const names = commands.map(({ path }) => `.BR trawl\\-${escaped(path)} (1)`);
  return names.map((line, i) => (i < names.length - 1 ? `${line},` : line));
}

function paragraphs(text: string): string[] {
  return text.split('\n').flatMap((part, i) => [...(i > 0 ? ['.PP'] : []), ...sentences(part)]);
}

/** Each on a line of its own, as the macros want it. */
function sentences(text: string): string[] {
  return text.split(/(?<=[.;]) /).map((line) => escaped(line));
}

/** A line of text: no macro, and hyphens that can be copied. */
function escaped(text: string): string {
  const line = text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll('"', String.raw`\(dq`);
  return /^[.']/.test(line) ? String.raw`\&${line}` : line;
}
