// Branches and tags of a repository in one form, from its host or from a mirror, so that both can be compared without git.

import { hash } from 'node:crypto';
import { isObjectId } from '../../sources/git/names.ts';

/**
 * Bytes of a ref list, some 200,000 refs. Why less than other answers: the host decides the number, the list is held for
 * the whole fetch, and many fetches run at a time.
 */
export const REMOTE_REFS_SIZE_MAX = 16 << 20;

const BRANCHES = 'refs/heads/';
const KEPT = /^refs\/(?:heads|tags)\/./;
const PEELED = '^{}';

export interface RemoteRefs {
  /** `name id` of each branch and tag, full names. Bytes of names as latin1. */
  readonly lines: readonly string[];
  /** Full name of HEAD's branch, if it exists; undefined: HEAD names none. */
  readonly defaultBranch: string | undefined;
}

/** Collects the refs that a host reports, in any order. */
export class RefCollector {
  readonly #lines: string[] = [];
  #headId: string | undefined;
  #headTarget: string | undefined;

  /** Adds a ref; ignores those a mirror does not contain: pull requests, notes, peeled tags. Errors: invalid id. */
  add(id: string, name: string): void {
    if (!isObjectId(id)) throw new Error('no object id');
    if (name === 'HEAD') this.#headId = id;
    else if (KEPT.test(name) && !name.endsWith(PEELED)) this.#lines.push(`${name} ${id}`);
  }

  /** HEAD is this ref. */
  setHeadTarget(name: string): void {
    this.#headTarget = name;
  }

  take(): RemoteRefs {
    return { lines: this.#lines, defaultBranch: this.#defaultBranch() };
  }

  /** HEAD's branch; if HEAD is an id or unknown, a branch with the same id, as git clone guesses. */
  #defaultBranch(): string | undefined {
    const target = this.#headTarget;
    if (target !== undefined)
      return target.startsWith(BRANCHES) &&
        this.#lines.some((line) => line.startsWith(`${target} `))
        ? target
        : undefined;
    const id = this.#headId;
    if (id === undefined) return undefined;
    const same = this.#lines.filter((line) => line.startsWith(BRANCHES) && line.endsWith(` ${id}`));
    const names = same.map((line) => line.slice(0, -id.length - 1));
    return (
      ['main', 'master'].map((name) => BRANCHES + name).find((name) => names.includes(name)) ??
      names[0]
    );
  }
}

/** A text that differs for other branches, tags or ids. */
export function digestOf({ lines }: Pick<RemoteRefs, 'lines'>): string {
  return hash('sha256', lines.toSorted().join('\n'));
}

/** Parses `git ls-remote --symref`. Errors: another format. */
export function parseListed(text: string): RemoteRefs {
  const collector = new RefCollector();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [value = '', name = ''] = line.split('\t');
    if (value.startsWith('ref: ')) {
      if (name === 'HEAD') collector.setHeadTarget(value.slice('ref: '.length));
    } else collector.add(value, name);
  }
  return collector.take();
}

/** The lines of a `packed-refs` file. Source: gitrepository-layout(5), refs/packed-backend.c of git. */
export function parsePacked(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, id, name = ''] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
    return id !== undefined && KEPT.test(name) ? [`${name} ${id}`] : [];
  });
}
