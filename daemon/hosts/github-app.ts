// Credentials of a GitHub app (API.md 19.6): one for each organization or user that installed it.

import type { SecretSource } from '../base/config/secret-source.ts';

/** An app of the configuration. */
export interface GithubApp {
  readonly type: 'githubApp';
  readonly id: number | string;
  readonly privateKey: SecretSource;
  readonly url: string;
}
