// Fetches the metadata of each identity provider of a configuration file.

import { GithubSignOn } from '../accounts/sign-on/github-sign-on.ts';
import { Issuer } from '../accounts/sign-on/issuer.ts';
import { causesOf } from '../accounts/sign-on/sign-on-callback.ts';
import type { ProviderSettings } from '../base/config/file-schema.ts';
import type { Environment } from '../base/config/dispatcher.ts';

export interface ProbedProvider {
  readonly provider: string;
  readonly state: 'reached' | 'failed';
  /** Where people sign in, or the error. */
  readonly says: string;
}

/** In the order of the configuration. */
export function probeProviders(
  providers: Readonly<Record<string, ProviderSettings>>,
  env: Environment,
): Promise<ProbedProvider[]> {
  return Promise.all(Object.entries(providers).map(([id, settings]) => probe(id, settings, env)));
}

async function probe(
  provider: string,
  settings: ProviderSettings,
  env: Environment,
): Promise<ProbedProvider> {
  try {
    const address =
      settings.type === 'github'
        ? await new GithubSignOn({ settings, env }).probe()
        : (await new Issuer({ settings, env }).open()).metadata.authorization_endpoint;
    return { provider, state: 'reached', says: `people sign in at ${address}` };
  } catch (error) {
    return { provider, state: 'failed', says: causesOf(error) };
  }
}
