// /api/auth/oidc: sends a browser to an identity provider and handles its return (API.md 15.1).

import { z } from 'zod';
import {
  endedSignOnCookie,
  sessionCookie,
  signOnCookie,
  signOnCookieOf,
} from '../../accounts/credentials.ts';
import { SignOnRefusal } from '../../accounts/sign-on/refusals.ts';
import { ownPath } from '../../accounts/sign-on/return-path.ts';
import { SIGN_ON_PATH } from '../../accounts/single-sign-on.ts';
import { type Answer, type CallContext, endpoint, fetched } from '../shapes/endpoint.ts';

const HEAD = {
  isDescribed: false,
  method: 'GET',
  access: 'none',
  input: { path: z.object({ id: z.string() }) },
  responses: {
    302: {
      headers: {
        Location: { description: 'There.', type: 'string', isRequired: true },
        'Set-Cookie': {
          description: 'State kept in the browser meanwhile, and the session.',
          type: 'string',
        },
      },
    },
  },
  errors: ['NOT_FOUND', 'INVALID_CREDENTIALS', 'SERVER_OVERLOADED', 'NOT_READY'],
} as const;

function led(address: string, ...cookies: readonly string[]): Answer {
  const headers = new Headers({ Location: address, 'Cache-Control': 'no-store' });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return fetched(new Response(null, { status: 302, headers }));
}

/** Redirects to the page that shows the reason; programs get the refusal. Rethrows a fault of ours. */
function refused(error: unknown, request: Request, { baseUrl, accounts }: CallContext): Answer {
  const isForPeople = request.headers.get('accept')?.includes('text/html') === true;
  if (!(error instanceof SignOnRefusal) || !isForPeople) throw error;
  const { reason, returnTo = ownPath(new URL(request.url).searchParams.get('return')) } = error;
  const query = new URLSearchParams({
    failed: reason,
    ...(returnTo === '/' ? {} : { return: returnTo }),
  });
  return led(`${baseUrl}/login?${query.toString()}`, endedSignOnCookie(accounts.cookieScope));
}

function leading(
  path: string,
  lead: (id: string, request: Request, context: CallContext) => Promise<Answer>,
) {
  return endpoint({ ...HEAD, path }, async ({ path: { id } }, context) => {
    const request = context.fetchRequest();
    try {
      return await lead(id, request, context);
    } catch (error) {
      return refused(error, request, context);
    }
  });
}

export const beginSignOn = leading(
  `${SIGN_ON_PATH}/{id}`,
  async (id, request, { accounts, baseUrl }) => {
    const returnTo = new URL(request.url).searchParams.get('return');
    const { address, sealed } = await accounts.signOn.begin(id, baseUrl, returnTo);
    return led(address, signOnCookie(sealed, accounts.cookieScope));
  },
);

export const finishSignOn = leading(
  `${SIGN_ON_PATH}/{id}/callback`,
  async (id, request, { accounts: { signOn, cookieScope }, baseUrl }) => {
    const { sessionValue, returnTo } = await signOn.finish(id, {
      baseUrl,
      query: new URL(request.url).searchParams,
      sealed: signOnCookieOf(request.headers.get('cookie') ?? undefined),
    });
    return led(
      baseUrl + returnTo,
      sessionCookie(sessionValue, cookieScope),
      endedSignOnCookie(cookieScope),
    );
  },
);
