// The tools of a shell: ripgrep, `git log`, `git show`, and `cat` or `sed`. Long output is cut, as agents do.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Location, Reading, Toolbox } from './agent.ts';

const run = promisify(execFile);

/** Characters. Source: defaults of agents in use in 2026. */
const OUTPUT_SIZE_MAX = 30_000;
const BUFFER_SIZE_MAX = 1 << 28;
/** As many as a page of ours. */
const COMMITS_MAX = 50;
/** Lines that `sed` shows, and how many of them before the place. */
const LINES_READ = 120;
const LINES_BEFORE = 30;

export function shellToolbox(folder: string, reader: 'cat' | 'sed'): Toolbox {
  const output = async (
    repo: string,
    program: string,
    args: readonly string[],
  ): Promise<string> => {
    const options = { cwd: path.join(folder, repo), maxBuffer: BUFFER_SIZE_MAX };
    const { stdout } = await run(program, args, options).catch((error: unknown) => {
      if (isNothingFound(error)) return { stdout: '' };
      throw error;
    });
    return stdout.slice(0, OUTPUT_SIZE_MAX);
  };
  const runTool = async (repo: string, program: string, args: readonly string[]) => {
    const text = await output(repo, program, args);
    return { text: `${[program, ...args].join(' ')}\n${text}`, answer: text };
  };
  const search = async (repo: string, args: readonly string[], target = '.'): Promise<Reading> => {
    const flags = ['-n', '-H', '--no-heading', '--sort', 'path'];
    const { text, answer } = await runTool(repo, 'rg', [...flags, ...args, target]);
    return { text, locations: mostFirst(foundIn(answer)) };
  };
  return {
    name: `ripgrep and ${reader}`,
    isWhole: reader === 'cat',
    search: (repo, pattern, file) => search(repo, ['-i', '-e', pattern], file),
    define: (repo, name) => search(repo, ['-w', '-e', name]),
    refer: (repo, name) => search(repo, ['-w', '-e', name]),
    async commits(repo, pattern) {
      const args = ['log', '-i', '--oneline', `-${COMMITS_MAX}`, '--no-abbrev-commit'];
      const { text, answer } = await runTool(repo, 'git', [...args, `--grep=${pattern}`]);
      const locations = [...answer.matchAll(/^([0-9a-f]{40}) /gm)];
      return { text, locations: locations.map(([, commit = '']) => ({ commit })) };
    },
    async show(repo, commit) {
      const { text } = await runTool(repo, 'git', ['show', commit]);
      return { text, locations: [{ commit }] };
    },
    async read(repo, file, line, isAgain) {
      const isWhole = reader === 'cat' && !isAgain;
      const first = isWhole ? 1 : Math.max(1, line - LINES_BEFORE);
      const range = `${first},${first + LINES_READ - 1}p`;
      const { text, answer } = isWhole
        ? await runTool(repo, 'cat', [file])
        : await runTool(repo, 'sed', ['-n', range, file]);
      const lines = answer.split('\n').map((_, index) => ({ path: file, line: first + index }));
      return { text, locations: lines };
    },
  };
}

type FoundLine = Extract<Location, { readonly path: string }> & { readonly content: string };

function foundIn(answer: string): FoundLine[] {
  return answer.split('\n').flatMap((line) => {
    const [, file, number, content = ''] = /^(?:\.\/)?([^:]+):(\d+):(.*)$/.exec(line) ?? [];
    return file === undefined ? [] : [{ path: file, line: Number(number), content }];
  });
}

function mostFirst(found: readonly FoundLine[]): readonly FoundLine[] {
  const counts = new Map<string, number>();
  for (const { path: file } of found) counts.set(file, (counts.get(file) ?? 0) + 1);
  return found.toSorted((a, b) => (counts.get(b.path) ?? 0) - (counts.get(a.path) ?? 0));
}

function isNothingFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 1;
}
