// `npm run bench -- --ranking definitions`: ranks of definitions in answers to names. A file can keep the names.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createClient, search, type SearchClient } from '../client.ts';
import { formatTable } from '../../daemon/cli/bench/statistics.ts';
import { type DefinedName, drawNames } from './names.ts';
import { FIRST_FILES, checkTrees } from './run.ts';
import { type ServerOptions, withServer } from './server.ts';

export interface DefinitionOptions extends ServerOptions {
  readonly root: string;
  /** Read if it exists, else written. */
  readonly names?: string | undefined;
  /** Names to exclude. */
  readonly except?: string | undefined;
  readonly seed: number;
  readonly count: number;
  /** Also 100,000 matches, and a stream of 1,000. */
  readonly isFull: boolean;
}

export interface NameLocation extends DefinedName {
  /** Rank of the first defining file; 0: not in the answer. */
  readonly place: number;
  readonly first: readonly string[];
}

export interface DefinitionFigure {
  /** Number of matches, and how. */
  readonly way: string;
  readonly names: readonly NameLocation[];
}

interface Variant {
  readonly name: string;
  readonly find: (client: SearchClient, query: string) => Promise<readonly string[]>;
}

const STREAM_MATCHES = 1000;

function blocking(matches: number): Variant {
  return {
    name: `${matches.toLocaleString('en-US')} matches`,
    async find(client, query) {
      const { files } = await search(client, JSON.stringify({ query, matches }));
      return files.map(({ fileName }) => fileName.text);
    },
  };
}

const STREAM: Variant = {
  name: `stream of ${STREAM_MATCHES.toLocaleString('en-US')}`,
  find: (client, query) => client.stream(JSON.stringify({ query, matches: STREAM_MATCHES })),
};

async function rankOf(
  client: SearchClient,
  variant: Variant,
  name: DefinedName,
): Promise<NameLocation> {
  const files = await variant.find(client, name.name);
  const at = files.findIndex((file) => name.files.includes(file));
  return { ...name, place: at + 1, first: files.slice(0, FIRST_FILES) };
}

async function locationNames(
  client: SearchClient,
  names: readonly DefinedName[],
  isFull: boolean,
): Promise<DefinitionFigure[]> {
  const variants = isFull ? [blocking(100), STREAM, blocking(100_000)] : [blocking(100)];
  const figures: DefinitionFigure[] = [];
  for (const variant of variants) {
    const locations: NameLocation[] = [];
    for (const name of names) locations.push(await rankOf(client, variant, name));
    figures.push({ way: variant.name, names: locations });
  }
  return figures;
}

function readNames(file: string): DefinedName[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this program
  return JSON.parse(readFileSync(file, 'utf8')) as DefinedName[];
}

function isThere(file: string | undefined): file is string {
  return file !== undefined && existsSync(file);
}

async function chooseNames(
  client: SearchClient,
  options: DefinitionOptions,
): Promise<DefinedName[]> {
  if (isThere(options.names)) return readNames(options.names);
  const except = new Set(
    options.except === undefined ? [] : readNames(options.except).map(({ name }) => name),
  );
  const names = await drawNames(client, { ...options, except });
  if (options.names !== undefined)
    writeFileSync(options.names, `${JSON.stringify(names, undefined, 1)}\n`);
  return names;
}

async function measureAt(url: string, options: DefinitionOptions): Promise<DefinitionFigure[]> {
  const client = createClient(url, 1);
  const { root } = options;
  try {
    // First, as the server closes connections that are idle while a tree is read.
    const names = await chooseNames(client, options);
    await checkTrees(client, [{ name: path.basename(root), root }]);
    return await locationNames(client, names, options.isFull);
  } finally {
    client.close();
  }
}

/** Rejects if the tree cannot be read or indexed, or a request fails. */
export function measureDefinitions(options: DefinitionOptions): Promise<DefinitionFigure[]> {
  return withServer([options.root], options, (url) => measureAt(url, options));
}

function percent(count: number, all: number): string {
  return `${((100 * count) / Math.max(1, all)).toFixed(1)} %`;
}

function missesOf({ way: variant, names }: DefinitionFigure): string {
  const misses = names.filter((one) => one.place !== 1);
  const lines = misses.map(
    ({ name, kind, place, first, files }) =>
      `  ${name} (${kind}): ${place === 0 ? 'not there' : `place ${String(place)}`}; first ${first[0] ?? 'nothing'}; defined in ${files.join(', ')}`,
  );
  return `\n${variant}: not first\n${lines.join('\n')}\n`;
}

/** With the names whose definition is not first. */
export function formatDefinitions(figures: readonly DefinitionFigure[]): string {
  const titles = ['names', 'first', 'among three', 'not there'];
  const table = formatTable(
    [
      { title: 'a definition is', align: 'left' },
      ...titles.map((title) => ({ title, align: 'right' }) as const),
    ],
    figures.map(({ way: variant, names }) => {
      const count = (isIn: (at: number) => boolean) =>
        percent(names.filter((one) => isIn(one.place)).length, names.length);
      return [
        variant,
        String(names.length),
        count((at) => at === 1),
        count((at) => at > 0 && at <= FIRST_FILES),
        count((at) => at === 0),
      ];
    }),
  );
  return `${table}${figures.map(missesOf).join('')}`;
}
