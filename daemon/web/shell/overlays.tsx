// What comes over the page: palette, keys, syntax, signing in again. Each is loaded when it is first asked for.

import { lazy, Suspense, useState } from 'react';
import { useSession } from '../data/session.ts';
import { useKey } from '../parts/keys.ts';
import { useSyntax } from '../search/syntax.ts';

const KeysDialog = lazy(() => import('./keys-dialog.tsx'));
const Palette = lazy(() => import('./palette.tsx'));
const SessionDialog = lazy(() => import('./session-dialog.tsx'));
const SyntaxDialog = lazy(() => import('./syntax-dialog.tsx'));

export function Overlays() {
  const [open, setOpen] = useState<'keys' | 'palette'>();
  const isSyntaxOpen = useSyntax((state) => state.isOpen);
  const isExpired = useSession((state) => state.isExpired);
  useKey('palette', () => setOpen('palette'));
  useKey('keys', () => setOpen('keys'));
  useKey('syntax', () => useSyntax.setState({ isOpen: true }));
  const close = (): void => setOpen(undefined);
  return (
    <Suspense fallback={null}>
      {open === 'keys' && <KeysDialog close={close} />}
      {open === 'palette' && <Palette close={close} showKeys={() => setOpen('keys')} />}
      {isSyntaxOpen && <SyntaxDialog close={() => useSyntax.setState({ isOpen: false })} />}
      {isExpired && <SessionDialog />}
    </Suspense>
  );
}
