// Settings that owners may change at run time (API.md 15.5). Environment and flags take precedence over the file, the file
// over the owners' values. Stored in the store; loaded at start and after each reported change.

import type { WhoMay } from '../base/config/settings.ts';
import { Sequence } from '../base/sequence.ts';
import { StoreError } from '../store/error.ts';
import { type Actor, ORG } from './audit-log.ts';
import type { AccountsContext } from './context.ts';
import { AccountError } from './error.ts';

export interface InstanceSettings {
  readonly anonymousAccess: boolean;
  readonly passwordLogin: boolean;
  readonly apiKeyCreation: WhoMay;
  readonly apiKeyUsage: WhoMay;
}

export type InstanceSettingName = keyof InstanceSettings;
export type Controller = 'env' | 'file' | 'ui';

const DEFAULTS: InstanceSettings = {
  anonymousAccess: false,
  passwordLogin: true,
  apiKeyCreation: 'all',
  apiKeyUsage: 'all',
};

/** Apply if the owners' values are unknown. Sign-in stays possible: it grants nothing. */
const STRICTEST: Partial<InstanceSettings> = {
  anonymousAccess: false,
  apiKeyCreation: 'owners',
  apiKeyUsage: 'owners',
};

const NAMES = ['anonymousAccess', 'passwordLogin', 'apiKeyCreation', 'apiKeyUsage'] as const;

export interface FixedSettings {
  readonly env: Partial<InstanceSettings>;
  readonly file: Partial<InstanceSettings>;
}

interface InstanceSettingsServiceOptions extends AccountsContext {
  readonly fixed: FixedSettings;
  /** Whether there is another way to sign in than by password. */
  readonly hasOtherSignIn: () => boolean;
}

export class InstanceSettingsService {
  readonly #options: InstanceSettingsServiceOptions;
  #fixed: FixedSettings;
  #chosen: Partial<InstanceSettings> = {};
  #current: InstanceSettings = DEFAULTS;
  /** The loaded values are current. */
  #isLoaded = true;
  readonly #loads = new Sequence();

  constructor(options: InstanceSettingsServiceOptions) {
    this.#options = options;
    this.#fixed = options.fixed;
    this.#settle();
  }

  get current(): InstanceSettings {
    return this.#current;
  }

  get controlledBy(): Readonly<Record<InstanceSettingName, Controller>> {
    const { env, file } = this.#fixed;
    const of = (name: InstanceSettingName): Controller =>
      env[name] === undefined ? (file[name] === undefined ? 'ui' : 'file') : 'env';
    return {
      anonymousAccess: of('anonymousAccess'),
      passwordLogin: of('passwordLogin'),
      apiKeyCreation: of('apiKeyCreation'),
      apiKeyUsage: of('apiKeyUsage'),
    };
  }

  /** From now on owners cannot change these. */
  fix(fixed: FixedSettings): void {
    this.#fixed = fixed;
    this.#settle();
  }

  /** Loads the owners' values: one load after the other, so that the last one wins. Errors: NOT_READY. */
  load(): Promise<void> {
    return this.#loads.run(() => this.#load());
  }

  async #load(): Promise<void> {
    const all = await this.#options.store.settings.all();
    const chosen: Record<string, unknown> = {};
    for (const name of NAMES) {
      const text = all.get(keyOf(name));
      if (text !== undefined) chosen[name] = parsed(keyOf(name), text);
    }
    this.#chosen = chosen;
    this.#isLoaded = true;
    this.#settle();
  }

  /** The owners' values are unknown: until `load` succeeds, everything that they could forbid is forbidden. */
  distrust(): void {
    this.#chosen = { ...this.#chosen, ...STRICTEST };
    this.#isLoaded = false;
    this.#settle();
  }

  /**
   * Whether members who are not owners may create keys, or use one.
   * Errors: NOT_READY if only the owners' value can forbid it, and that is unknown.
   */
  mayMembers(name: 'apiKeyCreation' | 'apiKeyUsage'): boolean {
    if (this.#current[name] === 'all') return true;
    if (this.#isLoaded || this.controlledBy[name] !== 'ui') return false;
    throw new StoreError('NOT_READY', 'The settings of the instance have not been reloaded yet.');
  }

  /**
   * Changes settings, all or none.
   * Errors: ANONYMOUS_ACCESS_CONTROLLED_BY_ENV, SETTING_CONTROLLED_BY_CONFIG,
   * EMAIL_LOGIN_CANNOT_BE_DISABLED: there is no other way to sign in; NOT_READY.
   */
  async change(actor: Actor | undefined, changes: Partial<InstanceSettings>): Promise<void> {
    const { store, auditLog, hasOtherSignIn } = this.#options;
    const names = NAMES.filter((name) => changes[name] !== undefined);
    for (const name of names) this.#checkFree(name);
    if (changes.passwordLogin === false && !hasOtherSignIn()) {
      throw new AccountError(
        'EMAIL_LOGIN_CANNOT_BE_DISABLED',
        'Sign-in by password cannot be switched off: there is no other way to sign in.',
      );
    }
    await this.load();
    const before = this.#current;
    const changed = names.filter((name) => changes[name] !== before[name]);
    if (changed.length === 0) return;
    const stored = changed.map((name) => [keyOf(name), JSON.stringify(changes[name])] as const);
    const from = Object.fromEntries(changed.map((name) => [name, before[name]]));
    const to = Object.fromEntries(changed.map((name) => [name, changes[name]]));
    const records = auditLog.made(actor, 'settings.changed', ORG, { settings: changed, from, to });
    await store.settings.setAll(new Map(stored), records);
    await this.load();
  }

  #checkFree(name: InstanceSettingName): void {
    const controller = this.controlledBy[name];
    if (controller === 'ui') return;
    if (name === 'anonymousAccess' && controller === 'env') {
      throw new AccountError(
        'ANONYMOUS_ACCESS_CONTROLLED_BY_ENV',
        'anonymousAccess is fixed by TRAWL_ANONYMOUS_ACCESS or --anonymous.',
      );
    }
    throw new AccountError(
      'SETTING_CONTROLLED_BY_CONFIG',
      `${name} is fixed by the configuration.`,
    );
  }

  #settle(): void {
    const { env, file } = this.#fixed;
    this.#current = { ...DEFAULTS, ...this.#chosen, ...file, ...env };
  }
}

function keyOf(name: InstanceSettingName): string {
  return `instance.${name}`;
}

/** Errors: NOT_READY for invalid JSON. */
function parsed(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const remedy = 'restore a backup ("trawl restore")';
    throw new StoreError('NOT_READY', `the store is damaged at setting ${key}: ${remedy}`, error);
  }
}
