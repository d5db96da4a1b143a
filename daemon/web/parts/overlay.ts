// The open overlay. Any code can open one; only one is open at a time.

import { create } from 'zustand';

export type Overlay = 'keys' | 'palette' | 'syntax';

export const useOverlay = create<{ readonly open: Overlay | undefined }>()(() => ({
  open: undefined,
}));

export function showOverlay(open: Overlay): void {
  useOverlay.setState({ open });
}

export function closeOverlay(): void {
  useOverlay.setState({ open: undefined });
}
