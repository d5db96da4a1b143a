// The bar below the header while the daemon is unreachable, and for a moment after it is back.

import { useEffect, useState } from 'react';
import { tryNow, useConnection } from '../data/connection.ts';

/** Seconds until a time, counting down. */
function useSecondsUntil(at: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((at - now) / 1000));
}

function Waiting({ state, tryAt }: { readonly state: string; readonly tryAt: number }) {
  const seconds = useSecondsUntil(tryAt);
  return (
    <>
      <span>{state === 'starting' ? 'Trawl is starting.' : 'Trawl cannot be reached.'}</span>
      {/* Hidden from screen readers, which would read every second. */}
      <span aria-hidden>Trying again in {seconds} s.</span>
      <button type="button" className="button" onClick={() => void tryNow()}>
        Try now
      </button>
    </>
  );
}

export function ConnectionBar() {
  const { state, tryAt } = useConnection();
  return (
    <div role="status">
      {state === 'back' && <div className="bar bar-ok">Trawl is back.</div>}
      {(state === 'offline' || state === 'starting') && (
        <div className="bar bar-warn">
          <Waiting state={state} tryAt={tryAt} />
        </div>
      )}
    </div>
  );
}
