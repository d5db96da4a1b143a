// The palette: pages, repositories, settings and the theme by a few letters of their names.

import { Dialog } from '@ariakit/react';
import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { listRepos } from '../../http/api/sources/repo-endpoints.ts';
import { addressOf } from '../browse/address.ts';
import { callPage } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { useRemembered } from '../data/remembered.ts';
import type { Theme } from '../data/remembered.ts';
import { useAccount } from '../data/session.ts';
import { showOverlay } from '../parts/overlay.ts';
import { SECTIONS } from '../settings/sections.ts';
import '../styles/overlays.css';

interface PaletteProps {
  readonly close: () => void;
}

const REPOS_SHOWN = 8;
const FILES_SHOWN = 10;

const PAGES = [
  { title: 'Search', path: '/' },
  { title: 'Repositories', path: '/repos' },
] as const;

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Repositories whose names hold a text; the path of each within this instance. */
function useRepos(wanted: string) {
  return useQuery({
    queryKey: ['repos', 'palette', wanted],
    queryFn: ({ signal }) =>
      callPage<typeof listRepos>('/api/repos', {
        base: BASE_PATH,
        query: { query: wanted === '' ? undefined : wanted, perPage: REPOS_SHOWN },
        signal,
      }),
    placeholderData: (before) => before,
    retry: false,
  });
}

/** All words are in it; best at the beginning of one. */
function fit(value: string, wanted: string): number {
  const text = value.toLowerCase();
  const words = wanted.toLowerCase().split(/\s+/);
  if (!words.every((word) => text.includes(word))) return 0;
  return words.every((word) => ` ${text}`.includes(` ${word}`)) ? 1 : 0.5;
}

interface ItemsProps {
  readonly title: string;
  readonly items: readonly {
    readonly key: string;
    readonly text: string;
    readonly run: () => void;
  }[];
}

function Items({ title, items }: ItemsProps) {
  if (items.length === 0) return null;
  return (
    <Command.Group heading={title}>
      {items.map(({ key, text, run }) => (
        <Command.Item key={key} value={`${title} ${key} ${text}`} onSelect={run}>
          <bdi>{text}</bdi>
        </Command.Item>
      ))}
    </Command.Group>
  );
}

export default function Palette({ close }: PaletteProps) {
  const [wanted, setWanted] = useState('');
  const [, navigate] = useLocation();
  const { data: account } = useAccount();
  const { data: repos } = useRepos(wanted.trim());
  const files = useRemembered((state) => state.files).slice(0, FILES_SHOWN);
  const setTheme = useRemembered((state) => state.setTheme);
  const isOwner = account?.user?.role === 'OWNER';
  const go = (path: string) => () => {
    close();
    navigate(path);
  };
  const settings = SECTIONS.filter((one) => isOwner || !('isForOwners' in one));
  return (
    <Dialog
      open
      onClose={close}
      className="dialog palette"
      aria-label="Go to"
      backdrop={<div className="backdrop" />}
    >
      <Command label="Go to" loop filter={fit}>
        <Command.Input
          className="input"
          placeholder="Page, repository, setting"
          value={wanted}
          onValueChange={setWanted}
        />
        <Command.List className="palette-list" label="Places">
          <Command.Empty>Nothing is called so.</Command.Empty>
          <Items
            title="Pages"
            items={PAGES.map(({ title, path }) => ({ key: path, text: title, run: go(path) }))}
          />
          <Items
            title="Repositories"
            items={(repos?.items ?? []).map(({ repoName, webUrl }) => ({
              key: repoName,
              text: repoName,
              run: go(pathBelow(webUrl)),
            }))}
          />
          <Items
            title="Looked at last"
            items={files.map(({ repo, path }) => ({
              key: `${repo} ${path}`,
              text: `${path} · ${repo}`,
              run: go(addressOf({ repo, revision: undefined, kind: 'blob', path })),
            }))}
          />
          <Items
            title="Settings"
            items={settings.map(({ id, title }) => ({
              key: id,
              text: title,
              run: go(`/settings/${id}`),
            }))}
          />
          <Items
            title="Theme"
            items={THEMES.map((theme) => ({
              key: theme,
              text: `Theme: ${theme}`,
              run: () => {
                setTheme(theme);
                close();
              },
            }))}
          />
          <Items
            title="Help"
            items={[
              { key: 'keys', text: 'Keys', run: () => showOverlay('keys') },
              { key: 'syntax', text: 'Syntax of queries', run: () => showOverlay('syntax') },
            ]}
          />
        </Command.List>
      </Command>
    </Dialog>
  );
}

/** The path of a page of this instance, as the router has it. */
function pathBelow(url: string): string {
  const { pathname } = new URL(url);
  return pathname.slice(pathname.indexOf('/browse/'));
}
