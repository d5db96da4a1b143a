// Requests used today, and the remaining ones.

import { useQuery } from '@tanstack/react-query';
import type { getUsage } from '../../api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { Notice } from '../parts/notice.tsx';
import { When } from '../parts/when.tsx';
import { count } from '../parts/number-format.ts';

export function Usage() {
  const { data, error } = useQuery({
    queryKey: ['usage'],
    queryFn: ({ signal }) => call<typeof getUsage>('/api/user/usage', { signal }),
    staleTime: 0,
  });
  if (data === undefined)
    return error === null ? null : <Notice kind="danger" title={error.message} />;
  return (
    <dl className="facts">
      <dt>Used today</dt>
      <dd>{count(data.used)}</dd>
      <dt>Limit</dt>
      <dd>{data.limit === null ? 'unlimited' : count(data.limit)}</dd>
      <dt>Remaining</dt>
      <dd>{data.remaining === null ? 'unlimited' : count(data.remaining)}</dd>
      <dt>Resets</dt>
      <dd>
        <When at={data.resetsAt} />
      </dd>
    </dl>
  );
}
