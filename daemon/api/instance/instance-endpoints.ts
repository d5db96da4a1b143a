// /api/license and /api/instance: the licence, and the settings that owners may change (API.md 15.5).

import { z } from 'zod';
import { ENTITLEMENTS, LICENCE_STATES } from '../../accounts/licence.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { WHO_MAY } from '../../base/config/settings.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { flag, integer, text, time } from '../shapes/schemas.ts';

const HEAD = { access: 'owner', isDescribed: false } as const;

const licence = z.object({
  state: z.enum(LICENCE_STATES),
  customer: text('Whom it was issued to.').optional(),
  licenseId: text('Id of the licence.').optional(),
  entitlements: z.array(z.enum(ENTITLEMENTS)),
  seats: integer('Active members allowed.', 1).optional(),
  seatsUsed: integer('Active members.'),
  expiresAt: time('When it expires.').optional(),
});

export const getLicence = endpoint(
  { ...HEAD, method: 'GET', path: '/api/license', responses: { 200: { body: licence } } },
  async (_, { accounts }) => ok(await accounts.licences.describe()),
);

export const setLicence = endpoint(
  {
    ...HEAD,
    method: 'PUT',
    path: '/api/license',
    input: { body: z.object({ key: z.string({ error: 'expected a text' }) }) },
    responses: { 200: { body: licence } },
    errors: ['INVALID_LICENSE', 'LICENSE_CONTROLLED_BY_ENV'],
  },
  async ({ body }, { accounts, actor }) => {
    await accounts.licences.set(actor, body.key);
    return ok(await accounts.licences.describe());
  },
);

export const removeLicence = endpoint(
  {
    ...HEAD,
    method: 'DELETE',
    path: '/api/license',
    responses: { 200: { body: licence } },
    errors: ['LICENSE_CONTROLLED_BY_ENV'],
  },
  async (_, { accounts, actor }) => {
    await accounts.licences.remove(actor);
    return ok(await accounts.licences.describe());
  },
);

const whoMay = z.enum(WHO_MAY, { error: `expected ${WHO_MAY.join(' or ')}` });
const controller = z.enum(['env', 'file', 'ui']);
const settingFlag = z.boolean({ error: 'expected true or false' });

const instance = z.object({
  anonymousAccess: flag('Whether guests may search.'),
  passwordLogin: flag('Whether sign-in by password is enabled.'),
  apiKeyCreation: whoMay,
  apiKeyUsage: whoMay,
  controlledBy: z.object({
    anonymousAccess: controller,
    passwordLogin: controller,
    apiKeyCreation: controller,
    apiKeyUsage: controller,
  }),
});

function describe({ settings }: Accounts) {
  return { ...settings.current, controlledBy: settings.controlledBy };
}

export const getInstance = endpoint(
  { ...HEAD, method: 'GET', path: '/api/instance', responses: { 200: { body: instance } } },
  (_, { accounts }) => ok(describe(accounts)),
);

export const changeInstance = endpoint(
  {
    ...HEAD,
    method: 'PATCH',
    path: '/api/instance',
    input: {
      body: z.object({
        anonymousAccess: settingFlag.exactOptional(),
        passwordLogin: settingFlag.exactOptional(),
        apiKeyCreation: whoMay.exactOptional(),
        apiKeyUsage: whoMay.exactOptional(),
      }),
    },
    responses: { 200: { body: instance } },
    errors: [
      'ANONYMOUS_ACCESS_CONTROLLED_BY_ENV',
      'SETTING_CONTROLLED_BY_CONFIG',
      'EMAIL_LOGIN_CANNOT_BE_DISABLED',
    ],
  },
  async ({ body }, { accounts, actor }) => {
    await accounts.settings.change(actor, body);
    return ok(describe(accounts));
  },
);
