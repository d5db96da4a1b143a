// Random edits of files on disk, of a work tree or a plain folder, each reported as a folder watch would.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { git, temporaryFolder } from '../sources/git/fixture.ts';
import { CONTENTS, IGNORES, PATHS, randomOf, RULE_PATHS, RULES } from './history.ts';

/** No path of these is within one that a rule file of PATHS is at. */
const MORE_PATHS = ['lib', 'docs', 'lib/deep', '-dash', 'a\nb', '*.c', 'sp ace/é.h', 'new/one/x.c'];
const IGNORE_PATHS = ['.gitignore', '.ignore', '.trawlignore', 'lib/.gitignore', 'docs/.ignore'];
const ODD_NAME = Buffer.from('odd\xff.c', 'latin1');

/** What an edit did: the paths that a watch tells; undefined: more than it can tell. */
export interface Edit {
  readonly what: string;
  readonly reported: readonly string[] | undefined;
}

export class DiskEdits {
  readonly root = temporaryFolder();
  readonly #random: () => number;
  readonly #isGit: boolean;

  constructor(seed: number, isGit: boolean) {
    this.#random = randomOf(seed);
    this.#isGit = isGit;
    if (isGit) {
      const format = seed % 7 === 0 ? 'sha256' : 'sha1';
      git(this.root, 'init', '-q', '-b', 'main', `--object-format=${format}`);
      git(this.root, 'commit', '-q', '--allow-empty', '-m', 'first');
    }
    for (let i = 0; i < 12; i++) this.#write(this.#path(), this.#content(''));
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)]!;
  }

  #path(): string {
    return this.#pick([...PATHS, ...PATHS, ...MORE_PATHS]);
  }

  #content(file: string): string {
    const random = Math.floor(this.#random() * 1e6);
    if (RULE_PATHS.includes(file) && file.endsWith('attributes')) return this.#pick(RULES);
    if (IGNORE_PATHS.includes(file)) return this.#pick(IGNORES);
    return this.#random() < 0.3 ? `message plum${random} {}\n` : this.#pick(CONTENTS);
  }

  /** Makes room for a path; returns the paths that this changes. */
  #clear(file: string): string[] {
    const reported: string[] = [];
    const parts = file.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      const status = lstatSync(path.join(this.root, folder), { throwIfNoEntry: false });
      if (status?.isDirectory() === true) continue;
      rmSync(path.join(this.root, folder), { force: true });
      mkdirSync(path.join(this.root, folder));
      reported.push(folder);
    }
    rmSync(path.join(this.root, file), { recursive: true, force: true });
    return [...reported, file];
  }

  #write(file: string, content: string): string[] {
    const target = path.join(this.root, file);
    const reported = isFile(target) && this.#random() < 0.7 ? [file] : this.#clear(file);
    writeFileSync(target, content);
    return reported;
  }

  #files(): string[] {
    const found = readdirSync(this.root, { recursive: true, withFileTypes: true });
    return found
      .filter((entry) => !entry.isDirectory() && !entry.name.includes('\uFFFD'))
      .map((entry) => path.relative(this.root, path.join(entry.parentPath, entry.name)))
      .filter((one) => !/(?:^|\/)\.git\//.test(one));
  }

  edit(): Edit {
    const dice = this.#random();
    const files = this.#files();
    const file = files.length === 0 ? 'a.c' : this.#pick(files);
    if (dice < 0.12) return this.#remove(file);
    if (dice < 0.22) return this.#rename(file);
    if (dice < 0.27) return this.#touch(file);
    if (dice < 0.33) {
      const target = this.#pick([
        ...RULES,
        ...CONTENTS.filter((one) => /^[^\0]{1,99}$/s.test(one)),
      ]);
      const at = this.#pick([...PATHS, ...RULE_PATHS]);
      const reported = this.#clear(at);
      symlinkSync(target, path.join(this.root, at));
      return { what: `link ${at}`, reported };
    }
    if (dice < 0.4) return this.#rules();
    if (dice < 0.44) return this.#odd();
    if (dice < 0.49) return this.#nest();
    if (dice < 0.6 && this.#isGit) return this.#git();
    const at = this.#pick([this.#path(), this.#path(), ...RULE_PATHS.slice(0, 3)]);
    return { what: `write ${at}`, reported: this.#write(at, this.#content(at)) };
  }

  #remove(file: string): Edit {
    const folder = path.dirname(file);
    const all = folder !== '.' && this.#random() < 0.4 ? folder : file;
    rmSync(path.join(this.root, all), { recursive: true, force: true });
    return { what: `remove ${all}`, reported: [all] };
  }

  #rename(file: string): Edit {
    const folder = path.dirname(file);
    const from = folder !== '.' && this.#random() < 0.3 ? folder : file;
    const to = this.#path();
    if (from === to || to.startsWith(`${from}/`) || from.startsWith(`${to}/`))
      return { what: 'nothing', reported: [] };
    const reported = this.#clear(to);
    const isThere = existsSync(path.join(this.root, from));
    if (isThere) renameSync(path.join(this.root, from), path.join(this.root, to));
    return { what: `rename ${from} ${to}`, reported: [from, ...reported] };
  }

  #touch(file: string): Edit {
    const target = path.join(this.root, file);
    if (lstatSync(target).isSymbolicLink()) return { what: 'nothing', reported: [] };
    if (this.#random() < 0.5) chmodSync(target, this.#pick([0o644, 0o755]));
    else utimesSync(target, 1e9, 1e9);
    return { what: `touch ${file}`, reported: [file] };
  }

  #rules(): Edit {
    const at = this.#pick(IGNORE_PATHS);
    if (!this.#isGit || this.#random() < 0.7)
      return { what: `rules ${at}`, reported: this.#write(at, this.#content(at)) };
    mkdirSync(path.join(this.root, '.git/info'), { recursive: true });
    writeFileSync(path.join(this.root, '.git/info/exclude'), this.#pick(IGNORES));
    return { what: 'exclude', reported: undefined };
  }

  #odd(): Edit {
    const file = Buffer.concat([Buffer.from(`${this.root}/`), ODD_NAME]);
    if (this.#random() < 0.3) rmSync(file, { force: true });
    else writeFileSync(file, this.#content(''));
    return { what: 'odd name', reported: undefined };
  }

  /** A repository in a folder, which comes or is one no more. */
  #nest(): Edit {
    const [folder, name] = ['nested', 'nested/.git'];
    const isThere = existsSync(path.join(this.root, name));
    if (isThere && this.#random() < 0.7) {
      rmSync(path.join(this.root, name), { recursive: true });
      return { what: 'nested no more', reported: [name] };
    }
    mkdirSync(path.join(this.root, folder), { recursive: true });
    writeFileSync(path.join(this.root, 'nested/n.c'), this.#content(''));
    if (!isThere && this.#random() < 0.7) git(path.join(this.root, folder), 'init', '-q');
    return { what: 'nested', reported: [folder, name] };
  }

  #git(): Edit {
    const dice = this.#random();
    const file = this.#files()[0];
    rmSync(path.join(this.root, 'nested'), { recursive: true, force: true });
    if (dice < 0.2 && file !== undefined) git(this.root, 'add', '-f', '--', `:(literal)${file}`);
    else if (dice < 0.4) git(this.root, 'rm', '-q', '-r', '--cached', '--ignore-unmatch', '.');
    else {
      git(this.root, 'add', '-A');
      git(this.root, 'commit', '-q', '--allow-empty', '-m', 'more');
      if (dice > 0.7) git(this.root, 'branch', '-f', this.#pick(['dev', 'old']));
      else if (dice > 0.55) git(this.root, 'checkout', '-q', '-f', this.#branch());
    }
    return { what: 'git', reported: undefined };
  }

  #branch(): string {
    return this.#pick(git(this.root, 'for-each-ref', '--format=%(refname:short)').split('\n'));
  }
}

function isFile(file: string): boolean {
  try {
    return lstatSync(file).isFile();
  } catch {
    return false;
  }
}
