// Assembles the account services over one store, and prepares the first start: the owner named by the environment, its key,
// or a one-time link (API.md 21.1).

import { omitUndefined } from '../base/omit-undefined.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { ConfigError } from '../base/config/error.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import { openInstanceSecret } from '../base/config/secrets.ts';
import { VARIABLES } from '../base/config/variables.ts';
import type { RepoDirectory } from '../repos/directory.ts';
import type { SearchContexts } from '../repos/search-context.ts';
import type { ApiKey, ReplacementRecords } from '../store/api-keys.ts';
import { StoreError } from '../store/error.ts';
import type { Store } from '../store/store.ts';
import type { User } from '../store/users.ts';
import type { Log } from '../base/log.ts';
import { type AuditAction, AuditLog, OPERATOR } from './audit-log.ts';
import { Callers } from './callers.ts';
import type { AccountsContext } from './context.ts';
import { ConfiguredChanges } from './configured-changes.ts';
import { type ConfiguredGrant, configuredGrants } from './configured-grants.ts';
import { type CookieScope, hashCredential } from './credentials.ts';
import { GrantService } from './grants.ts';
import { HostLists } from './host-lists.ts';
import { hostAccountsOf, type HostRules, hostRulesOf } from './host-rules.ts';
import { type InstanceSettings, InstanceSettingsService } from './instance-settings.ts';
import { Keys } from './keys.ts';
import type { Entitlement } from './licence.ts';
import { LicenceService } from './licence-service.ts';
import { BUILT_IN_PUBLIC_KEY, parsePublicKey } from './licence-key.ts';
import { Members } from './members.ts';
import { OAuthServer } from './oauth/oauth-server.ts';
import { RepoAccessResolver } from './repo-access-resolver.ts';
import { SignIn } from './sign-in.ts';
import { SingleSignOn } from './single-sign-on.ts';

/** Setting with the name's own hash under the instance secret. */
const SECRET_CHECK_SETTING = 'instance.secretCheck';

export interface AccountsOptions {
  readonly configuration: Configuration;
  readonly store: Store;
  readonly directory: RepoDirectory;
  /** Identifies the data directory among those that share the store. */
  readonly instance: string;
  readonly version: string;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

const ADDRESS_SETTING = 'instance.baseUrl';

export interface Reach {
  /** Public address, without trailing slash. */
  readonly baseUrl: string;
  /** Only from this machine. */
  readonly isLoopback: boolean;
}

export class Accounts {
  readonly store: Store;
  readonly now: () => number;
  readonly directory: RepoDirectory;
  readonly auditLog: AuditLog;
  readonly callers: Callers;
  readonly signIn: SignIn;
  readonly members: Members;
  readonly signOn: SingleSignOn;
  readonly keys: Keys;
  readonly grants: GrantService;
  readonly hostRules: HostRules;
  readonly hostLists: HostLists;
  readonly oauth: OAuthServer;
  readonly licences: LicenceService;
  readonly settings: InstanceSettingsService;
  readonly #configuration: Configuration;
  readonly #configuredChanges: ConfiguredChanges;
  #configuredGrants: readonly ConfiguredGrant[];
  readonly #secret: Buffer;
  readonly #log: Log;
  readonly #ignore: () => void;
  #nextReading: NodeJS.Timeout | undefined;
  /** The lists of readers may have changed. */
  #areListsDue = false;
  readonly #pruning: NodeJS.Timeout;
  #isClosed = false;
  #cookieScope: CookieScope = { basePath: '', isSecure: false };
  #baseUrl = '';

  private constructor({ configuration, version, now = Date.now, ...given }: AccountsOptions) {
    const { store, directory } = given;
    const log = given.log.labelled('accounts');
    const own = configuration.secret?.reveal();
    const secret = own === undefined ? openInstanceSecret(configuration.dataDir) : Buffer.from(own);
    const retentionDays = (): number => configuration.settings.auditRetentionDays;
    const auditLog = new AuditLog({ store, version, retentionDays, now, log });
    const context = { store, directory, auditLog, secret, now, log };
    this.store = store;
    this.now = now;
    this.directory = directory;
    this.auditLog = auditLog;
    this.#configuration = configuration;
    this.#secret = secret;
    this.#log = log;
    this.settings = new InstanceSettingsService({
      ...context,
      fixed: fixedSettings(configuration),
      hasOtherSignIn: () => this.signOn.isConfigured,
    });
    this.licences = new LicenceService({
      ...context,
      publicKey: publicKeyOf(configuration),
      fixedKey: configuration.licenceKey?.reveal(),
    });
    this.#configuredChanges = new ConfiguredChanges({ configuration, auditLog, log });
    this.#configuredGrants = configuredGrants(configuration.permissions);
    const hostRules = hostRulesOf(configuration, given.instance);
    this.hostRules = hostRules;
    const hostLists = new HostLists({ store, rules: hostRules, now });
    this.hostLists = hostLists;
    // Each of these services needs the ones above it; it needs those below only for some calls.
    this.oauth = new OAuthServer({
      ...context,
      hash: (value) => hashCredential(secret, value),
      baseUrl: () => this.#baseUrl,
      settings: () => configuration.settings.oauth,
    });
    this.callers = this.#newCallers(context);
    const isPasswordLoginAllowed = (): boolean => this.settings.current.passwordLogin;
    const signIn = new SignIn({ ...context, isPasswordLoginAllowed });
    this.signIn = signIn;
    const seatMax = (): number | undefined => this.licences.licence.seatMax(now());
    const members = new Members({ ...context, signIn, seatMax });
    this.members = members;
    const hasBearer = (): boolean => this.isEntitled('oauth');
    this.signOn = new SingleSignOn({ ...context, configuration, members, signIn, hasBearer });
    const mayMembersCreate = (): boolean => this.settings.mayMembers('apiKeyCreation');
    this.keys = new Keys({ ...context, mayMembersCreate });
    const grantsNow = (): readonly ConfiguredGrant[] => this.#configuredGrants;
    this.grants = new GrantService({
      ...context,
      configuredGrants: grantsNow,
      hostLists,
      hostRules,
    });
    this.#ignore = store.onChange((change) => {
      if (!('topic' in change) || change.topic === 'readers') return;
      this.#areListsDue ||= change.topic === 'all';
      void this.#reload();
    });
    this.#pruning = setInterval(() => void this.#prune(), 600_000).unref();
  }

  #newCallers(context: AccountsContext): Callers {
    const { store, directory, settings } = this;
    const configuration = this.#configuration;
    const accessResolver = new RepoAccessResolver({
      directory,
      configuredGrants: () => this.#configuredGrants,
      countingLists: () => this.hostLists.counting,
      hasGrants: () => this.isEntitled('permissions'),
      areRulesLoaded: () => store.uninformedMs <= configuration.settings.storeGraceMs,
    });
    return new Callers({
      ...context,
      accessResolver,
      settings: () => configuration.settings,
      isAnonymousAllowed: () => settings.current.anonymousAccess,
      hasScopedTokens: () => this.isEntitled('scoped-tokens'),
      hostAccountsOf: (userId) => hostAccountsOf(store, this.hostRules, userId),
      issuerTokens: {
        userOf: (value) => this.signOn.tokenUser(value),
        isAccepted: (provider) => this.signOn.isAccepting(provider),
      },
      hasOAuth: () => this.isEntitled('oauth'),
      tokenUse: (presented) => this.oauth.use(presented),
      cookieScope: () => this.#cookieScope,
    });
  }

  /** Errors: NOT_READY; ConfigError for an invalid licence public key. */
  static async open(options: AccountsOptions): Promise<Accounts> {
    const accounts = new Accounts(options);
    await accounts.#checkSecret();
    await accounts.settings.load();
    await accounts.licences.load();
    await accounts.hostLists.load();
    await accounts.#provideOwner();
    return accounts;
  }

  /** Warns if the last start had another instance secret: credentials made with that one are void. */
  async #checkSecret(): Promise<void> {
    const check = hashCredential(this.#secret, SECRET_CHECK_SETTING);
    const kept = await this.store.settings.get(SECRET_CHECK_SETTING);
    if (kept === check) return;
    if (kept !== undefined)
      this.#log.error(
        'the instance secret has changed: API keys, tokens, sessions and links made with the former one are void; ' +
          'start with that one (the file "secret" of the data directory, or TRAWL_SECRET) to restore them',
      );
    await this.store.settings.set(SECRET_CHECK_SETTING, check);
  }

  /** Call after the configuration was read again: applies its settings and grants. */
  applyConfiguration(): void {
    this.#configuredGrants = configuredGrants(this.#configuration.permissions);
    this.callers.forgetReaders();
    this.settings.fix(fixedSettings(this.#configuration));
    void this.#configuredChanges.record();
    this.#warnOfLicence();
  }

  /** Search contexts for queries: as configured, or none without the entitlement. */
  get contexts(): SearchContexts {
    return this.isEntitled('search-contexts') ? this.#configuration.contexts : {};
  }

  isEntitled(name: Entitlement): boolean {
    return this.licences.licence.isEntitled(name, this.now());
  }

  get cookieScope(): CookieScope {
    return this.#cookieScope;
  }

  /**
   * Call when requests are accepted.
   *
   * @returns  the address for creating the first owner, or setting a password; undefined: not necessary
   */
  async begin({ baseUrl, isLoopback }: Reach): Promise<string | undefined> {
    this.#baseUrl = baseUrl;
    const { pathname, protocol } = new URL(baseUrl);
    this.#cookieScope = { basePath: pathname.replace(/\/+$/, ''), isSecure: protocol === 'https:' };
    this.#warnOfLicence();
    await this.#configuredChanges.record();
    if ((await this.lastBaseUrl()) !== baseUrl)
      await this.store.settings.set(ADDRESS_SETTING, baseUrl);
    const userCount = await this.store.users.count();
    if (isLoopback && this.#configuration.localAccess) await this.callers.allowLocalAnonymous();
    const waiting = userCount === 0 ? null : (await this.#ownerWithoutPassword())?.id;
    if (waiting === undefined) return undefined;
    return this.setupUrl(baseUrl, await this.signIn.makeLink(waiting));
  }

  /** Public address of the last daemon, without trailing slash; undefined: none. Errors: NOT_READY. */
  lastBaseUrl(): Promise<string | undefined> {
    return this.store.settings.get(ADDRESS_SETTING);
  }

  setupUrl(baseUrl: string, linkValue: string): string {
    return `${baseUrl}/setup?token=${linkValue}`;
  }

  /** Writes pending data. Leaves the store open. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#nextReading);
    this.#ignore();
    clearInterval(this.#pruning);
    this.callers.close();
    this.hostLists.close();
    await this.auditLog.close();
  }

  /** Warns about configuration that has no effect without a licence. */
  #warnOfLicence(): void {
    const { contexts } = this.#configuration;
    const isEnforced = this.directory.all.some(({ enforcement }) => enforcement !== undefined);
    const uses: [Entitlement, boolean, string][] = [
      ['permissions', isEnforced, 'grants have no effect'],
      [
        'search-contexts',
        Object.keys(contexts).length > 0,
        'the contexts of the configuration file are ignored',
      ],
      ['oauth', this.signOn.isBearerAccepted, 'tokens of identity providers are refused'],
    ];
    for (const [name, isUsed, effect] of uses)
      if (isUsed && !this.isEntitled(name))
        this.#log.warn(`${effect} without the entitlement "${name}" in a licence`);
  }

  /** Removes expired rows. Why ignore failures: they are refused anyway, and the next run removes them. */
  async #prune(): Promise<void> {
    const nowMs = this.now();
    await this.store.users.pruneExpired(nowMs).catch(() => {});
    await this.oauth.clients.prune(nowMs).catch(() => {});
  }

  /** Reloads changed settings; until that succeeds the strictest settings apply. */
  async #reload(isRepeated = false): Promise<void> {
    clearTimeout(this.#nextReading);
    const areListsDue = this.#areListsDue;
    this.#areListsDue = false;
    try {
      await this.settings.load();
      await this.licences.load();
      if (areListsDue) await this.hostLists.load();
    } catch (error) {
      this.#areListsDue ||= areListsDue;
      if (!isRepeated) this.#log.warn('settings could not be reloaded', { error: String(error) });
      this.settings.distrust();
      if (this.#isClosed) return;
      this.#nextReading = setTimeout(() => void this.#reload(true), 1_000).unref();
    }
  }

  /** The environment's owner, unless it can sign in. */
  async #ownerWithoutPassword(): Promise<User | undefined> {
    const { owner } = this.#configuration;
    if (owner === undefined || owner.apiKey !== undefined) return undefined;
    const user = await this.store.users.byEmail(owner.email);
    return user?.passwordHash === null ? user : undefined;
  }

  async #provideOwner(): Promise<void> {
    const { owner } = this.#configuration;
    if (owner === undefined) return;
    const { email, password, apiKey } = owner;
    const isFirst =
      (await this.store.users.count()) === 0 && (await this.#makeOwner(email, password));
    if (!isFirst && (password !== undefined || apiKey === undefined))
      this.#log.info('users exist: TRAWL_OWNER_EMAIL and TRAWL_OWNER_PASSWORD create no owner');
    if (apiKey !== undefined) await this.#provideKey(email, apiKey);
  }

  /** False: another daemon on the store has just done it. */
  async #makeOwner(email: string, password: SecretText | undefined): Promise<boolean> {
    const passwordHash =
      password === undefined ? null : await this.signIn.hashPassword(password.reveal());
    try {
      await this.store.users.create(
        { email, role: 'OWNER', passwordHash },
        {
          recordsOf: ({ id }) =>
            this.auditLog.made(OPERATOR, 'user.owner_created', { id, type: 'user' }),
        },
      );
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.errorCode === 'USER_ALREADY_EXISTS') return false;
      throw error;
    }
  }

  async #provideKey(email: string, apiKey: SecretText): Promise<void> {
    const user = await this.store.users.byEmail(email);
    if (user?.role !== 'OWNER') {
      this.#log.warn(`TRAWL_OWNER_API_KEY has no effect: ${email} is not an owner`);
      return;
    }
    const hash = hashCredential(this.#secret, apiKey.reveal());
    let isNew = false;
    const recordsOf: ReplacementRecords = (created, removed) => {
      isNew = true;
      const made = (action: AuditAction, { id, name, userId }: ApiKey) =>
        this.auditLog.made(OPERATOR, action, { id, type: 'api_key' }, { name, userId });
      return [
        ...removed.flatMap((key) => made('api_key.deleted', key)),
        ...made('api_key.created', created),
      ];
    };
    await this.store.apiKeys.replaceBootstrap(user.id, hash, recordsOf);
    if (isNew) this.#log.info('the owner key of TRAWL_OWNER_API_KEY was created');
  }
}

function fixedSettings({ anonymousAccess, settings }: Configuration) {
  const { passwordLogin, apiKeyCreation, apiKeyUsage } = settings;
  const file: Partial<InstanceSettings> = omitUndefined({
    anonymousAccess: settings.anonymousAccess,
    passwordLogin,
    apiKeyCreation,
    apiKeyUsage,
  });
  return { env: anonymousAccess === undefined ? {} : { anonymousAccess }, file };
}

/** Errors: ConfigError. */
function publicKeyOf({ licencePublicKey }: Configuration) {
  try {
    return parsePublicKey(licencePublicKey ?? BUILT_IN_PUBLIC_KEY);
  } catch (error) {
    const { name, allowed } = VARIABLES.licencePublicKey;
    throw new ConfigError(name, String(error), `allowed: ${allowed}`);
  }
}
