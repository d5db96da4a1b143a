// Tells the user that the daemon was updated and the page is old: the version changed, or a chunk of the page no longer
// exists.

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { getVersion } from '../../api/instance/system-endpoints.ts';
import { call } from '../data/api.ts';
import { useConnection } from '../data/connection.ts';

export function UpdateBar() {
  const [isOld, setOld] = useState(false);
  const [first, setFirst] = useState<string>();
  const state = useConnection((connection) => connection.state);
  const { data, refetch } = useQuery({
    queryKey: ['version'],
    queryFn: ({ signal }) => call<typeof getVersion>('/api/version', { signal }),
    // Checks again when the user returns to the page.
    refetchOnWindowFocus: 'always',
  });
  useEffect(() => {
    if (state === 'back') void refetch();
  }, [state, refetch]);
  const version = data?.version;
  useEffect(() => {
    if (version === undefined) return;
    if (first === undefined) setFirst(version);
    else if (version !== first) setOld(true);
  }, [version, first]);
  useEffect(() => {
    const note = (): void => setOld(true);
    addEventListener('vite:preloadError', note);
    return () => removeEventListener('vite:preloadError', note);
  }, []);
  return (
    <div role="status">
      {isOld && (
        <div className="bar bar-info">
          <span>Trawl was updated.</span>
          <button type="button" className="button" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      )}
    </div>
  );
}
