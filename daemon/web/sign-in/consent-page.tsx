// OAuth consent: an application asks for access to the user's account. The page displays its name, which proves
// nothing, and where the answer goes, which does. It sends the answer; then the browser returns to the application.

import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import type {
  answerConsentRequest,
  getConsentRequest,
} from '../../api/accounts/consent-endpoints.ts';
import { type AnswerOf, ApiFailure, call, fetchApi } from '../data/api.ts';
import { useParameters } from '../data/parameters.ts';
import { signInAddress } from '../data/base-path.ts';
import { useAccount } from '../data/session.ts';
import { Notice } from '../parts/notice.tsx';
import { useTitle } from '../parts/title.ts';
import { Name } from '../parts/visible-text.tsx';
import '../styles/overlays.css';

type ConsentRequest = AnswerOf<typeof getConsentRequest>;
type Decision = 'allow' | 'deny';

/** Address suffix of the tool server, which is read-only. */
const TOOLS = '/api/mcp';

/** Endpoint that returns a request and takes the answer. */
function addressOf(id: string): string {
  return `/api/ee/oauth/request/${encodeURIComponent(id)}`;
}

/** Redirects to the application. If that is not a web page, this page stays, and displays that all is done. */
function leave(address: string, stay: () => void): void {
  const { protocol } = new URL(address);
  const isPage = protocol === 'https:' || protocol === 'http:';
  location.assign(address);
  if (!isPage) stay();
}

function Question({ id, request }: { readonly id: string; readonly request: ConsentRequest }) {
  const [, navigate] = useLocation();
  const { data: account } = useAccount();
  const answer = useMutation({
    mutationFn: (decision: Decision) =>
      call<typeof answerConsentRequest>(addressOf(id), { method: 'POST', body: { decision } }),
    onSuccess: ({ redirectTo }) =>
      leave(redirectTo, () => navigate('/oauth/complete', { replace: true })),
  });
  const isBusy = answer.isPending || answer.isSuccess;
  return (
    <section className="card">
      <h1>
        Authorize <Name>{request.clientName}</Name>?
      </h1>
      <p>
        It will be able to{' '}
        {request.resource.endsWith(TOOLS) ? 'search and read everything' : 'do everything'} that{' '}
        <Name>{account?.user?.email ?? 'your account'}</Name> can, until you revoke its access in
        the settings.
      </p>
      <dl className="facts">
        <dt>Redirects to</dt>
        <dd>
          <strong>
            <Name>{request.redirectHost}</Name>
          </strong>
        </dd>
        <dt>Access to</dt>
        <dd>
          <Name>{request.resource}</Name>
        </dd>
      </dl>
      <Notice
        kind="warn"
        title="Allow this only if you started the sign-in yourself. Any application can use this name."
      />
      {answer.error !== null && <Notice kind="danger" title={answer.error.message} />}
      <div className="dialog-end">
        <button
          type="button"
          className="button"
          disabled={isBusy}
          onClick={() => answer.mutate('deny')}
        >
          Deny
        </button>
        <button
          type="button"
          className="button button-primary"
          disabled={isBusy}
          onClick={() => answer.mutate('allow')}
        >
          Allow
        </button>
      </div>
    </section>
  );
}

/** The heading of an error. */
const REFUSED = 'Not authorized';

function Request({ id }: { readonly id: string }) {
  const { data, error, isPending } = useQuery({
    queryKey: ['consent', id],
    queryFn: ({ signal }) => call<typeof getConsentRequest>(addressOf(id), { signal }),
    gcTime: 0,
    staleTime: Infinity,
  });
  if (isPending) return null;
  if (error === null) return <Question id={id} request={data} />;
  const isSignInDue = error instanceof ApiFailure && error.statusCode === 401;
  return (
    <>
      <h1 className="visually-hidden">{REFUSED}</h1>
      <Notice kind="danger" title={error.message}>
        {isSignInDue ? (
          <Link href={signInAddress()}>Sign in</Link>
        ) : (
          'Return to the application and start again.'
        )}
      </Notice>
    </>
  );
}

/** A request that the daemon refuses. A second request gets the reason as JSON. */
function Refusal() {
  const { error } = useQuery({
    queryKey: ['consent-refusal'],
    queryFn: async ({ signal }) => {
      const path = `/oauth/authorize${location.search}`;
      await fetchApi(path, { signal, headers: { Accept: 'application/json' } });
      return true;
    },
    retry: false,
    gcTime: 0,
  });
  if (error === null) return null;
  return (
    <>
      <h1 className="visually-hidden">{REFUSED}</h1>
      <Notice kind="danger" title="This application cannot be authorized.">
        {error.message}
      </Notice>
    </>
  );
}

export default function ConsentPage() {
  useTitle('Authorize an application');
  const parameters = useParameters();
  const id = parameters.get('request');
  return <div className="card-page">{id === null ? <Refusal /> : <Request id={id} />}</div>;
}
