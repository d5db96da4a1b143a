// The licence key in force: the environment's, else the one that an owner set, which is in the store (API.md 4.9, 15.5).

import type { KeyObject } from 'node:crypto';
import { Sequence } from '../base/sequence.ts';
import { type Actor, ORG } from './audit-log.ts';
import type { AccountsContext } from './context.ts';
import { AccountError } from './error.ts';
import { Licence, type LicenceDescription, readLicence, stateOf } from './licence.ts';

export const LICENCE_SETTING = 'licence';

interface LicenceServiceOptions extends AccountsContext {
  readonly publicKey: KeyObject;
  /** From the environment. */
  readonly fixedKey: string | undefined;
}

export class LicenceService {
  readonly licence = new Licence({ kind: 'none' });
  readonly #options: LicenceServiceOptions;
  readonly #loads = new Sequence();

  constructor(options: LicenceServiceOptions) {
    this.#options = options;
  }

  /** Loads the key in force: one load after the other, so that the last one wins. Errors: NOT_READY. */
  load(): Promise<void> {
    const { store, fixedKey, publicKey } = this.#options;
    return this.#loads.run(async () => {
      const key = fixedKey ?? (await store.settings.get(LICENCE_SETTING));
      this.licence.replace(await readLicence(key, publicKey));
    });
  }

  /** Answer of GET /api/license. */
  async describe(): Promise<LicenceDescription & { readonly seatsUsed: number }> {
    const { store, now } = this.#options;
    return { ...this.licence.describe(now()), seatsUsed: await store.users.countActive() };
  }

  /** Sets another key. Errors: LICENSE_CONTROLLED_BY_ENV; INVALID_LICENSE if it is not valid now; NOT_READY. */
  async set(actor: Actor | undefined, key: string): Promise<void> {
    const { publicKey, now } = this.#options;
    this.#checkFree();
    const read = await readLicence(key, publicKey);
    const state = stateOf(read, now());
    if (state !== 'valid') {
      const reason = read.kind === 'invalid' ? `: ${read.reason}` : '';
      throw new AccountError('INVALID_LICENSE', `The licence key is ${state}${reason}.`);
    }
    await this.#store(actor, key.trim());
  }

  /** Removes the key set by an owner. Errors: LICENSE_CONTROLLED_BY_ENV; NOT_READY. */
  async remove(actor: Actor | undefined): Promise<void> {
    this.#checkFree();
    await this.#store(actor, undefined);
  }

  async #store(actor: Actor | undefined, key: string | undefined): Promise<void> {
    const { store, auditLog } = this.#options;
    const records = auditLog.made(actor, 'license.changed', ORG);
    await store.settings.setAll(new Map([[LICENCE_SETTING, key]]), records);
    await this.load();
  }

  #checkFree(): void {
    if (this.#options.fixedKey === undefined) return;
    throw new AccountError(
      'LICENSE_CONTROLLED_BY_ENV',
      'The licence key is fixed by TRAWL_LICENSE_KEY.',
    );
  }
}
