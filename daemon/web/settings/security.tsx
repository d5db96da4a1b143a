// Who may sign in, and how: guests, passwords, keys. Settings that the environment or the configuration file fixes are
// marked and disabled.

import { useMutation, useQuery } from '@tanstack/react-query';
import type { changeInstance, getInstance } from '../../api/instance/instance-endpoints.ts';
import { type AnswerOf, type BodyOf, call } from '../data/api.ts';
import { ACCOUNT_KEY, queryClient } from '../data/session.ts';
import { Notice } from '../parts/notice.tsx';

type Instance = AnswerOf<typeof getInstance>;
type Changes = NonNullable<BodyOf<typeof changeInstance>>;
const KEY = ['instance'] as const;

const FIXED_BY: Readonly<Record<string, string>> = {
  env: 'set by the environment or a flag',
  file: 'set by the configuration file',
};

interface ChoiceProps {
  readonly instance: Instance;
  readonly name: keyof Changes;
  readonly label: string;
  readonly change: (changes: Changes) => void;
}

function Choice({ instance, name, label, change }: ChoiceProps) {
  const value = instance[name];
  const fixedBy = FIXED_BY[instance.controlledBy[name]];
  const isOn = value === true || value === 'all';
  const other = typeof value === 'boolean' ? !value : value === 'all' ? 'owners' : 'all';
  return (
    <label className="choice">
      <input
        type="checkbox"
        checked={isOn}
        disabled={fixedBy !== undefined}
        onChange={() => change({ [name]: other })}
      />
      <span>
        {label} {fixedBy !== undefined && <span className="faint">({fixedBy})</span>}
      </span>
    </label>
  );
}

export function Security() {
  const { data, error } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => call<typeof getInstance>('/api/instance', { signal }),
  });
  const { mutate, error: refusal } = useMutation({
    mutationFn: (body: Changes) =>
      call<typeof changeInstance>('/api/instance', { method: 'PATCH', body }),
    onSuccess: async (answer) => {
      queryClient.setQueryData(KEY, answer);
      await queryClient.invalidateQueries({ queryKey: ACCOUNT_KEY });
    },
  });
  if (data === undefined)
    return error === null ? null : <Notice kind="danger" title={error.message} />;
  return (
    <section>
      {refusal !== null && <Notice kind="danger" title={refusal.message} />}
      <Choice
        instance={data}
        name="anonymousAccess"
        label="Guests may search without an account"
        change={mutate}
      />
      <Choice instance={data} name="passwordLogin" label="Sign-in with password" change={mutate} />
      <Choice
        instance={data}
        name="apiKeyCreation"
        label="All members may create API keys, not only owners"
        change={mutate}
      />
      <Choice
        instance={data}
        name="apiKeyUsage"
        label="All members may use API keys, not only owners"
        change={mutate}
      />
    </section>
  );
}
