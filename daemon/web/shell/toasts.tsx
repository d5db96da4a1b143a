// Toasts at the bottom left. They disappear after a while, except under the pointer.

import { useEffect, useState } from 'react';
import { useToasts } from '../parts/toasts.ts';
import { VisibleText } from '../parts/visible-text.tsx';

/** ms that a toast stays. */
const TOAST_MS = 4000;

function Toast({ id, text }: { readonly id: number; readonly text: string }) {
  const drop = useToasts((state) => state.drop);
  const [isHovered, setHovered] = useState(false);
  useEffect(() => {
    if (isHovered) return undefined;
    const timer = setTimeout(() => drop(id), TOAST_MS);
    return () => clearTimeout(timer);
  }, [id, drop, isHovered]);
  return (
    <div
      className="toast"
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
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
