// The frame of all pages: header, the page of the address, and what is said when a page fails.

import { Component, Suspense, useEffect, useLayoutEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { Router, Switch, Route, useLocation } from 'wouter';
import { BASE_PATH } from '../data/base-path.ts';
import { heedOtherPerson, rememberFor, useRemembered } from '../data/remembered.ts';
import { refreshSession, useAccount } from '../data/session.ts';
import { Notice } from '../parts/notice.tsx';
import { ConnectionBar } from './connection-bar.tsx';
import { Header } from './header.tsx';
import { Overlays } from './overlays.tsx';
import { ROUTES, UnknownPage } from './routes.tsx';
import { Toasts } from './toasts.tsx';
import { UpdateBar } from './update-bar.tsx';
import { WaitingLine } from './waiting-line.tsx';

interface GuardProps {
  readonly children: ReactNode;
  /** Another page may be sound. */
  readonly path: string;
}

/** Shows a page that failed as such; the rest of the window stays. */
class PageGuard extends Component<GuardProps, { readonly error?: Error | undefined }> {
  override state: { readonly error?: Error | undefined } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidUpdate({ path }: GuardProps): void {
    if (path !== this.props.path && this.state.error !== undefined)
      this.setState({ error: undefined });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    // The bar above says so and has the button.
    if (/dynamically imported module|module script/i.test(error.message))
      return <p className="empty">This page comes with the new version; reload to see it.</p>;
    return (
      <>
        <h1 className="visually-hidden">Failure</h1>
        <Notice
          kind="danger"
          title="This page failed."
          action={{ label: 'Reload', run: () => location.reload() }}
        >
          {error.message}
        </Notice>
      </>
    );
  }
}

/** Each person has settings of their own. */
function Person() {
  const { data: account } = useAccount();
  const id = account?.user?.id;
  useEffect(() => {
    if (account !== undefined) rememberFor(id);
  }, [account, id]);
  useEffect(() => heedOtherPerson(() => void refreshSession()), []);
  return null;
}

/** All code has the tabs that its reader has chosen. */
function TabWidth() {
  const tabWidth = useRemembered((state) => state.tabWidth);
  useEffect(() => {
    document.documentElement.style.setProperty('--tab', String(tabWidth));
  }, [tabWidth]);
  return null;
}

/** Another page gets the focus at its heading; the start page and results have theirs in the box or the list. */
function PageFocus() {
  const [path] = useLocation();
  const page = path.split('/')[1] ?? '';
  const before = useRef(page);
  // Runs once the page is there, also if it had to be loaded.
  useLayoutEffect(() => {
    if (before.current === page) return;
    before.current = page;
    const heading = document.querySelector<HTMLElement>('#content h1');
    if (page === '' || page === 'search' || heading === null) return;
    if (document.activeElement?.closest('#content [autofocus], #content input') !== null) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  });
  return null;
}

function GuardedPage({ children }: { readonly children: ReactNode }) {
  const [path] = useLocation();
  return <PageGuard path={path}>{children}</PageGuard>;
}

export function App() {
  return (
    <Router base={BASE_PATH}>
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <Header />
      <WaitingLine />
      <ConnectionBar />
      <UpdateBar />
      <main id="content" className="page" tabIndex={-1}>
        <GuardedPage>
          <Suspense fallback={<div className="waiting-line" />}>
            <PageFocus />
            <Switch>
              {ROUTES.map(({ path, page: Page }) => (
                <Route key={String(path)} path={path}>
                  <Page />
                </Route>
              ))}
              <Route>
                <UnknownPage />
              </Route>
            </Switch>
          </Suspense>
        </GuardedPage>
      </main>
      <Toasts />
      <Overlays />
      <Person />
      <TabWidth />
    </Router>
  );
}
