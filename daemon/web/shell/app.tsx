// The frame of all pages: header, the page of the address, and what is said when a page fails.

import { Component, Suspense } from 'react';
import type { ReactNode } from 'react';
import { Router, Switch, Route } from 'wouter';
import { BASE_PATH } from '../data/place.ts';
import { Notice } from '../parts/notice.tsx';
import { Header } from './header.tsx';
import { ROUTES, UnknownPage } from './routes.tsx';

/** Shows a page that failed as such; the rest of the window stays. */
class PageGuard extends Component<{ readonly children: ReactNode }, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const isOld = /dynamically imported module|module script/i.test(error.message);
    return (
      <Notice
        kind={isOld ? 'info' : 'danger'}
        title={isOld ? 'Trawl was updated.' : 'This page failed.'}
        action={{ label: 'Reload', run: () => location.reload() }}
      >
        {isOld ? 'The address keeps what you see.' : error.message}
      </Notice>
    );
  }
}

export function App() {
  return (
    <Router base={BASE_PATH}>
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <Header />
      <main id="content" className="page" tabIndex={-1}>
        <PageGuard>
          <Suspense fallback={null}>
            <Switch>
              {ROUTES.map(({ path, page: Page }) => (
                <Route key={path} path={path}>
                  <Page />
                </Route>
              ))}
              <Route>
                <UnknownPage />
              </Route>
            </Switch>
          </Suspense>
        </PageGuard>
      </main>
    </Router>
  );
}
