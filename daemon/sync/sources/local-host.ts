// A connection to folders of this machine (`file://`, API.md 19.4), as a host that lists the sources of its address.
// They are read in place: nothing is fetched or changed.

import { pathToFileURL } from 'node:url';
import type { ConnectionSettings } from '../../base/config/connections.ts';
import { messageOf } from '../../base/caught.ts';
import {
  type Host,
  HostError,
  type HostRepo,
  type ListingIssue,
  type ListingPage,
} from '../../hosts/host.ts';
import { type HostOptions, openHost } from '../../hosts/open-host.ts';
import { omitUndefined } from '../../base/omit-undefined.ts';
import { seeFolderId } from '../../sources/disk/identity.ts';
import { nameOfSource } from '../../sources/git/probe.ts';
import { findLocalSources, type LocalSource, type LocalSourcesOptions } from './local-sources.ts';

export interface LocalHostSettings extends Pick<LocalSourcesOptions, 'mode' | 'ignore'> {
  readonly url: string;
  /** Of the only source of the address. */
  readonly name?: string;
}

export class LocalHost implements Host {
  readonly codeHostType = 'genericGitHost';
  readonly nameHost = 'local';
  readonly #settings: LocalHostSettings;

  constructor(settings: LocalHostSettings) {
    this.#settings = settings;
  }

  async *list(signal: AbortSignal): AsyncIterable<ListingPage> {
    const { url, mode, ignore } = this.#settings;
    const { sources, issues: found } = await findLocalSources(url, { mode, ignore, signal });
    const [repos, issues]: [HostRepo[], ListingIssue[]] = [[], [...found]];
    // Guess: 8 at a time, as git waits about as long as it computes.
    for (let start = 0; start < sources.length; start += 8) {
      signal.throwIfAborted();
      const some = sources.slice(start, start + 8);
      for (const one of await Promise.all(some.map((source) => this.#repoOf(source))))
        if ('hostId' in one) repos.push(one);
        else issues.push(one);
    }
    yield { repos, issues };
  }

  async #repoOf({ path, kind, ignore }: LocalSource): Promise<HostRepo | ListingIssue> {
    const { href } = pathToFileURL(path);
    try {
      return {
        // Only the path identifies it.
        hostId: path,
        path,
        name: this.#settings.name ?? (await nameOfSource(path, kind)),
        cloneUrl: href,
        source: { kind, path, ...(ignore.length === 0 ? {} : { ignore }) },
        ...omitUndefined({ fileId: seeFolderId(path) }),
        isFork: false,
        isArchived: false,
        visibility: 'unknown',
        topics: [],
      };
    } catch (error) {
      return {
        code: 'NOT_A_REPOSITORY',
        target: href,
        effect: 'DISCOVERY_INCOMPLETE',
        message: `${path}: git cannot determine its name: ${messageOf(error)}`,
      };
    }
  }

  gitCredential(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async probe(signal: AbortSignal): Promise<string> {
    for await (const { repos, issues } of this.list(signal)) {
      const [issue] = issues;
      if (repos.length === 0 && issue !== undefined) throw new HostError(issue.code, issue.message);
      const passed = issue === undefined ? '' : `; skipped: ${issue.message}`;
      return `this machine: ${repos.length} sources${passed}`;
    }
    return 'this machine';
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export async function openConnection(
  name: string,
  settings: ConnectionSettings,
  options: HostOptions,
): Promise<Host> {
  const isLocal = settings.type === 'git' && /^file:/i.test(settings.url);
  return isLocal ? new LocalHost(settings) : openHost(name, settings, options);
}
