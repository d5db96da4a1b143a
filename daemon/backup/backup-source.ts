// The parts of an open instance that a backup reads.

import { LICENCE_SETTING } from '../accounts/licence-service.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { openInstanceSecret } from '../base/config/secrets.ts';
import { readProductVersion } from '../base/config/version.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import type { Store } from '../store/store.ts';
import type { BackupSource } from './make.ts';

export function backupSource(
  { secret, dataDir }: Configuration,
  catalog: Catalog,
  store: Store,
): BackupSource {
  return {
    catalog,
    store,
    secret: secret?.reveal() ?? openInstanceSecret(dataDir).toString('utf8'),
    secretSettings: [LICENCE_SETTING],
    productVersion: readProductVersion(),
  };
}
