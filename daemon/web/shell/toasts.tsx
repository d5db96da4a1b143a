// Toasts, at the bottom left: they go by themselves, unless somebody points at them.

import { useEffect, useState } from 'react';
import { useToasts } from '../parts/toasts.ts';
import { VisibleText } from '../parts/visible-text.tsx';

/** ms that one is shown. */
const SHOWN_MS = 4000;

function Toast({ id, text }: { readonly id: number; readonly text: string }) {
  const drop = useToasts((state) => state.drop);
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => drop(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, drop, isHeld]);
  return (
    <div
      className="toast"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
    >
      <VisibleText text={text} isName />
    </div>
  );
}

export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  return (
    <div className="toasts" role="status">
      {toasts.map(({ id, text }) => (
        <Toast key={id} id={id} text={text} />
      ))}
    </div>
  );
}
