// The palette: finds pages, repositories, settings and themes by parts of their names.

import { Dialog } from '@ariakit/react';
import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { listRepos } from '../../api/sources/repo-endpoints.ts';
import { addressOf } from '../browse/address.ts';
import { belowBase } from '../data/base-path.ts';
import { callPage } from '../data/api.ts';
import { type Theme, tracesOf, useRemembered } from '../data/remembered.ts';
import { useAccount } from '../data/session.ts';
import { showOverlay } from '../parts/overlay.ts';
import { Name } from '../parts/visible-text.tsx';
import { SECTIONS } from '../settings/sections.ts';
import '../styles/overlays.css';

interface PaletteProps {
  readonly close: () => void;
}

const REPOS_MAX = 8;
const FILES_MAX = 10;

const PAGES = [
  { title: 'Search', path: '/' },
  { title: 'Repositories', path: '/repos' },
] as const;

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Repositories whose names contain a text. */
function useRepos(typed: string) {
  return useQuery({
    queryKey: ['repos', 'palette', typed],
    queryFn: ({ signal }) =>
      callPage<typeof listRepos>('/api/repos', {
        query: { query: typed === '' ? undefined : typed, perPage: REPOS_MAX },
        signal,
      }),
    placeholderData: (before) => before,
    retry: false,
  });
}

/** Rank of an item: all words must occur in it; higher if they begin words. */
function fit(value: string, typed: string): number {
  const text = value.toLowerCase();
  const words = typed.toLowerCase().split(/\s+/);
  if (!words.every((word) => text.includes(word))) return 0;
  return words.every((word) => ` ${text}`.includes(` ${word}`)) ? 1 : 0.5;
}

interface Item {
  readonly key: string;
  readonly text: string;
  readonly run: () => void;
}

interface ItemsProps {
  readonly title: string;
  readonly items: readonly Item[];
}

function Items({ title, items }: ItemsProps) {
  if (items.length === 0) return null;
  return (
    <Command.Group heading={title}>
      {items.map(({ key, text, run }) => (
        <Command.Item key={key} value={`${title} ${key} ${text}`} onSelect={run}>
          <Name>{text}</Name>
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** Creates a function that opens a path below the base path. */
type Go = (path: string) => () => void;

function useRepoItems(typed: string, go: Go): readonly Item[] {
  const { data } = useRepos(typed);
  return (data?.items ?? []).map(({ repoName, webUrl }) => ({
    key: repoName,
    text: repoName,
    run: go(belowBase(webUrl)),
  }));
}

function useFileItems(go: Go): readonly Item[] {
  const files = useRemembered(tracesOf).files.slice(0, FILES_MAX);
  return files.map(({ repo, path }) => ({
    key: `${repo} ${path}`,
    text: `${path} · ${repo}`,
    run: go(addressOf({ repo, revision: undefined, kind: 'blob', path })),
  }));
}

function useSettingItems(go: Go): readonly Item[] {
  const { data: account } = useAccount();
  const isOwner = account?.user?.role === 'OWNER';
  const settings = SECTIONS.filter((one) => isOwner || !('isForOwners' in one));
  return settings.map(({ id, title }) => ({ key: id, text: title, run: go(`/settings/${id}`) }));
}

function useThemeItems(close: () => void): readonly Item[] {
  const setTheme = useRemembered((state) => state.setTheme);
  return THEMES.map((theme) => ({
    key: theme,
    text: `Theme: ${theme}`,
    run: () => {
      setTheme(theme);
      close();
    },
  }));
}

export default function Palette({ close }: PaletteProps) {
  const [typed, setTyped] = useState('');
  const [, navigate] = useLocation();
  const go: Go = (path) => () => {
    close();
    navigate(path);
  };
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
          value={typed}
          onValueChange={setTyped}
        />
        <Command.List className="palette-list" label="Places">
          <Command.Empty>No results.</Command.Empty>
          <Items
            title="Pages"
            items={PAGES.map(({ title, path }) => ({ key: path, text: title, run: go(path) }))}
          />
          <Items title="Repositories" items={useRepoItems(typed.trim(), go)} />
          <Items title="Recently viewed" items={useFileItems(go)} />
          <Items title="Settings" items={useSettingItems(go)} />
          <Items title="Theme" items={useThemeItems(close)} />
          <Items
            title="Help"
            items={[
              { key: 'keys', text: 'Keyboard shortcuts', run: () => showOverlay('keys') },
              { key: 'syntax', text: 'Query syntax', run: () => showOverlay('syntax') },
            ]}
          />
        </Command.List>
      </Command>
    </Dialog>
  );
}
