// The pages by address; daemon/api/page/page-endpoints.ts has the same list. The search page is part of the first load;
// all others load on demand.

import { type ComponentType, lazy } from 'react';
import { Link } from 'wouter';
import { SearchPage } from '../search/search-page.tsx';
import { StartPage } from '../search/start-page.tsx';
import { useTitle } from '../parts/title.ts';

interface PageRoute {
  readonly path: string | RegExp;
  readonly page: ComponentType;
}

const BrowsePage = lazy(() => import('../browse/browse-page.tsx'));
const ConsentPage = lazy(() => import('../sign-in/consent-page.tsx'));
const CompletePage = lazy(() => import('../sign-in/complete-page.tsx'));
const LoginPage = lazy(() => import('../sign-in/login-page.tsx'));
const ReposPage = lazy(() => import('../repos/repos-page.tsx'));
const SettingsPage = lazy(() => import('../settings/settings-page.tsx'));
const SetupPage = lazy(() => import('../sign-in/setup-page.tsx'));

export const ROUTES: readonly PageRoute[] = [
  { path: '/', page: StartPage },
  { path: '/search', page: SearchPage },
  // Why not `*`: names may contain newlines, which it does not match.
  { path: /^\/browse\/[^]*$/, page: BrowsePage },
  { path: '/repos', page: ReposPage },
  { path: '/settings/:section?', page: SettingsPage },
  { path: '/login', page: LoginPage },
  { path: '/setup', page: SetupPage },
  { path: '/oauth/authorize', page: ConsentPage },
  { path: '/oauth/complete', page: CompletePage },
];

export function UnknownPage() {
  useTitle('Unknown page');
  return (
    <section className="narrow">
      <h1>This page does not exist.</h1>
      <p>Go to:</p>
      <ul>
        <li>
          <Link href="/">Search</Link>
        </li>
        <li>
          <Link href="/repos">Repositories</Link>
        </li>
        <li>
          <Link href="/settings/general">Settings</Link>
        </li>
      </ul>
    </section>
  );
}
