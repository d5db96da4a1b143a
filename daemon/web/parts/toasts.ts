// Toasts: short confirmations without a place of their own.

import { create } from 'zustand';

interface Toast {
  readonly id: number;
  readonly text: string;
}

const TOASTS_MAX = 3;

interface Toasts {
  readonly toasts: readonly Toast[];
  readonly drop: (id: number) => void;
}

export const useToasts = create<Toasts>()((set) => ({
  toasts: [],
  drop: (id) => set(({ toasts }) => ({ toasts: toasts.filter((one) => one.id !== id) })),
}));

let lastId = 0;

export function toast(text: string): void {
  lastId++;
  const added = { id: lastId, text };
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts, added].slice(-TOASTS_MAX) }));
}
