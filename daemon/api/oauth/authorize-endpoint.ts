// GET /oauth/authorize: stores a valid request for the signed-in user and redirects to the page that shows it. Errors
// are shown here: before the user has answered, nobody is redirected to an address that a client chose.

import type { RequestedConsent } from '../../accounts/oauth/consents.ts';
import { Parameters } from '../../accounts/oauth/parameters.ts';
import type { Answer, CallContext } from '../shapes/endpoint.ts';
import { answerAlonePage } from '../page/page-endpoints.ts';
import { AUTHORIZE_PATH } from './addresses.ts';
import { count, oauthEndpoint } from './oauth-answers.ts';

const REQUEST_PARAMETER = 'request';

export const authorize = oauthEndpoint(
  { method: 'GET', path: AUTHORIZE_PATH, usesOptionalCredential: true, refuse: forPeople },
  async (context) => {
    count(context);
    const { search, searchParams } = new URL(context.fetchRequest().url);
    if (searchParams.has(REQUEST_PARAMETER)) return answerAlonePage(200, context);
    const requested = await context.accounts.oauth.consents.read(new Parameters(searchParams));
    return await goOn(context, requested, search);
  },
);

async function goOn(
  context: CallContext,
  requested: RequestedConsent,
  search: string,
): Promise<Answer> {
  const { accounts, baseUrl, caller } = context;
  if (caller?.source !== 'session' || caller.person === undefined) {
    const query = new URLSearchParams({ return: AUTHORIZE_PATH + search });
    return goTo(`${baseUrl}/login?${query.toString()}`);
  }
  const id = await accounts.oauth.consents.addRequest(requested, caller.person.id);
  return goTo(`${baseUrl}${AUTHORIZE_PATH}?${REQUEST_PARAMETER}=${id}`);
}

function goTo(address: string): Answer {
  return {
    status: 303,
    headers: { Location: address, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
    content: { nothing: true },
  };
}

/** People get the page, which fetches the error itself; programs get the error. */
function forPeople(refusal: Answer, context: CallContext): Answer {
  const accept = context.fetchRequest().headers.get('accept');
  return accept?.includes('text/html') === true
    ? answerAlonePage(refusal.status, context)
    : refusal;
}
