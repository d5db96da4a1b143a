// Asks each identity provider of a configuration file what it says of itself.

import { causesOf, Issuer } from '../accounts/sign-on/issuer.ts';
import type { ProviderSettings } from '../base/config/file-schema.ts';
import type { Environment } from '../base/config/way.ts';

export interface ProbedProvider {
  readonly provider: string;
  readonly state: 'reached' | 'failed';
  /** Where people sign in, or why it failed. */
  readonly says: string;
}

/** What they say, in the order of the configuration. Errors: none. */
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
    const { metadata } = await new Issuer({ settings, env }).open();
    const says = `people sign in at ${metadata.authorization_endpoint}`;
    return { provider, state: 'reached', says };
  } catch (error) {
    return { provider, state: 'failed', says: causesOf(error) };
  }
}
