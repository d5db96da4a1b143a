// Notices for owners about all repositories: first indexing, failures, quarantined shards, warnings.

import { Link } from 'wouter';
import { useReady, useRepoCounts } from '../jobs/index-health.ts';
import { Notice } from '../parts/notice.tsx';
import { counted } from '../parts/number-format.ts';

function repositories(number: number): string {
  return counted(number, 'repository', 'repositories');
}

export function RepoBanners() {
  const { data: counts } = useRepoCounts();
  const { data: ready } = useReady();
  const { firstTimeIndexingCount: first = 0, failedCount = 0, warningCount = 0 } = counts ?? {};
  const out = ready?.quarantinedShards ?? 0;
  return (
    <div className="banners">
      {failedCount > 0 && (
        <Notice kind="danger" title={`${repositories(failedCount)} failed.`}>
          <Link href="/repos?state=failed">Show</Link>
        </Notice>
      )}
      {first > 0 && (
        <Notice
          kind="info"
          title={`Indexing ${repositories(first)} for the first time. You can search what is ready.`}
        />
      )}
      {out > 0 && (
        <Notice
          kind="warn"
          title={`${counted(out, 'shard')} quarantined. Affected files are being indexed again.`}
        >
          <Link href="/settings/health">Health</Link>
        </Notice>
      )}
      {warningCount > 0 && (
        <Notice
          kind="info"
          title={`The last jobs of ${repositories(warningCount)} reported warnings. Open a repository to see them.`}
        />
      )}
    </div>
  );
}
