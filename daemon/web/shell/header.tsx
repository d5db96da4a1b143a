// The bar above every page: product name, query, navigation, and the user.

import { CircleHelp, LogIn, Monitor, Moon, Sun } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';
import { signInAddress } from '../data/base-path.ts';
import { useAccount } from '../data/session.ts';
import { type Theme, useRemembered } from '../data/remembered.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { ICON } from '../parts/icon.ts';
import { showOverlay } from '../parts/overlay.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { QueryBox } from '../search/query-box.tsx';

const THEMES: Readonly<Record<Theme, { readonly next: Theme; readonly Icon: typeof Sun }>> = {
  system: { next: 'light', Icon: Monitor },
  light: { next: 'dark', Icon: Sun },
  dark: { next: 'system', Icon: Moon },
};

function ThemeButton() {
  const { theme, setTheme } = useRemembered();
  const { next, Icon } = THEMES[theme];
  const label = `Theme: ${theme}. Change to ${next}`;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={() => setTheme(next)}
    >
      <Icon {...ICON} />
    </button>
  );
}

/** Initials of a user. */
function initialsOf(name: string): string {
  const words = name
    .replace(/@.*/, '')
    .split(/[\s.]+/)
    .filter((word) => word !== '');
  return words
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0x20))
    .join('')
    .toUpperCase();
}

function Person() {
  const { data: account } = useAccount();
  // Renders again when the address changes: the link returns to it.
  useLocationProperty(() => location.href);
  if (account === undefined) return null;
  if (account.user === null)
    return (
      <Link href={signInAddress()} className="button">
        <LogIn {...ICON} /> Sign in
      </Link>
    );
  const { name, email } = account.user;
  return (
    <Link
      href="/settings/general"
      className="person"
      title={visibleName(email)}
      aria-label={`Settings of ${visibleName(email)}`}
    >
      <span aria-hidden="true">{initialsOf(name ?? email)}</span>
    </Link>
  );
}

export function Header() {
  const [path] = useLocation();
  const isBare = path === '/login' || path === '/setup';
  return (
    <header className="header">
      <Link href="/" className="brand">
        Trawl
      </Link>
      {path !== '/' && !isBare && <QueryBox />}
      <nav className="header-end" aria-label="Main">
        {!isBare && (
          <Link href="/repos" className="header-link">
            Repositories
          </Link>
        )}
        {!isBare && (
          <IconButton
            label="Query syntax"
            hint="Ctrl+/"
            icon={CircleHelp}
            run={() => showOverlay('syntax')}
          />
        )}
        <ThemeButton />
        {!isBare && <Person />}
      </nav>
    </header>
  );
}
