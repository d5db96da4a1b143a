// The search context of a query, written into it as `context:`. Hidden if there are no contexts or the licence does not
// include them.

import { useQuery } from '@tanstack/react-query';
import { useAccount } from '../data/session.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { contextIn, withContext } from './context-term.ts';
import { suggestionsQuery } from './suggesting.ts';

const CONTEXTS_MAX = 50;

interface ContextChoiceProps {
  readonly query: string;
  readonly isRegexEnabled: boolean;
  readonly change: (query: string) => void;
}

export default function ContextChoice({ query, isRegexEnabled, change }: ContextChoiceProps) {
  const { data: account } = useAccount();
  const maySearch = account !== undefined && (account.source !== 'none' || account.anonymousAccess);
  const hasContexts = account?.entitlements.includes('search-contexts') === true;
  const { data = [] } = useQuery({
    ...suggestionsQuery('context', '', undefined, CONTEXTS_MAX),
    enabled: maySearch && hasContexts,
  });
  if (data.length === 0) return null;
  const current = contextIn(query, isRegexEnabled);
  const names = new Set(data.map(({ value }) => value));
  if (current !== undefined) names.add(current);
  return (
    <select
      className="input context-choice"
      aria-label="Search context"
      title="Search context"
      value={current ?? ''}
      onChange={({ target }) =>
        change(withContext(query, target.value || undefined, isRegexEnabled) ?? query)
      }
    >
      <option value="">All repositories</option>
      {[...names].map((name) => (
        <option key={name} value={name}>
          {visibleName(name)}
        </option>
      ))}
    </select>
  );
}
