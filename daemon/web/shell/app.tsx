// The frame of all pages: header, current page, and the error display of a page that failed.

import { Component, type ReactNode, Suspense, useEffect, useLayoutEffect, useRef } from 'react';
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
  /** The next page may work. */
  readonly path: string;
}

/** Displays the error of a page that failed; the rest of the window keeps working. */
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
    // The update bar explains this and has the reload button.
    if (/dynamically imported module|module script/i.test(error.message))
      return <p className="empty">This page needs the new version. Reload to see it.</p>;
    return (
      <>
        <h1 className="visually-hidden">Error</h1>
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

/** Each user has their own settings. */
function Person() {
  const { data: account } = useAccount();
  const id = account?.user?.id;
  useEffect(() => {
    if (account !== undefined) rememberFor(id);
  }, [account, id]);
  useEffect(() => heedOtherPerson(() => void refreshSession()), []);
  return null;
}

/** Applies the user's tab width to all code. */
function TabWidth() {
  const tabWidth = useRemembered((state) => state.tabWidth);
  useEffect(() => {
    document.documentElement.style.setProperty('--tab', String(tabWidth));
  }, [tabWidth]);
  return null;
}

/** Moves the focus to the heading of a new page. The start page and the results manage it themselves. */
function PageFocus() {
  const [path] = useLocation();
  const page = path.split('/')[1] ?? '';
  const before = useRef(page);
  // Runs after the page has loaded.
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
        Skip to content
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
