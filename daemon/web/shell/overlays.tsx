// Overlays: palette, keyboard shortcuts, query syntax, renewed sign-in. Each loads when it is first opened.

import { lazy, Suspense } from 'react';
import { useSession } from '../data/session.ts';
import { useKey } from '../parts/keys.ts';
import { closeOverlay, showOverlay, useOverlay } from '../parts/overlay.ts';

const KeysDialog = lazy(() => import('./keys-dialog.tsx'));
const Palette = lazy(() => import('./palette.tsx'));
const SessionDialog = lazy(() => import('./session-dialog.tsx'));
const SyntaxDialog = lazy(() => import('./syntax-dialog.tsx'));

export function Overlays() {
  const open = useOverlay((state) => state.open);
  const isExpired = useSession((state) => state.isExpired);
  useKey('palette', () => showOverlay('palette'));
  useKey('keys', () => showOverlay('keys'));
  useKey('syntax', () => showOverlay('syntax'));
  return (
    <Suspense fallback={null}>
      {open === 'keys' && <KeysDialog />}
      {open === 'palette' && <Palette close={closeOverlay} />}
      {open === 'syntax' && <SyntaxDialog />}
      {isExpired && <SessionDialog />}
    </Suspense>
  );
}
