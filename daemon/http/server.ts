// Creates a listening server from configuration and services.

import { ENDPOINTS } from '../api/endpoints.ts';
import { messageOf } from '../base/caught.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { ConfigError } from '../base/config/error.ts';
import { readProductVersion } from '../base/config/version.ts';
import { VARIABLES } from '../base/config/variables.ts';
import { deferred } from '../base/deferred.ts';
import type { Log } from '../base/log.ts';
import type { AdapterOptions, BoundAddress, HttpAdapter, HttpHandler } from './adapters/adapter.ts';
import {
  allowedHosts,
  type Binding,
  bindingOf,
  defaultBaseUrl,
  listen,
  resolveBinding,
} from './binding.ts';
import { NodeAdapter } from './adapters/node-adapter.ts';
import { openAdapter } from './adapters/open-adapter.ts';
import type { Certificate } from './certificate.ts';
import { type ControlServer, startControlServer } from './control-server.ts';
import { Pipeline, type PipelineOptions } from './pipeline.ts';
import { mcpEndpoints } from '../api/mcp/mcp-endpoints.ts';
import type { Endpoint } from '../api/shapes/endpoint.ts';
import { OAUTH_ENDPOINTS } from '../api/oauth/oauth-endpoints.ts';
import { PAGE_ENDPOINTS } from '../api/page/page-endpoints.ts';

const GRACE_MS = 10_000;

export interface ServerOptions
  extends
    Pick<
      PipelineOptions,
      'services' | 'accounts' | 'ledger' | 'log' | 'onAnswerOver' | 'onArrival' | 'onRequest'
    >,
    Omit<AdapterOptions, 'handle' | 'isTls'> {
  readonly configuration: Configuration;
  /** Undefined: no TLS. */
  readonly certificate?: Certificate | undefined;
}

export interface LocalServer {
  /** Without trailing slash. */
  readonly url: string;
  /** One-time address where the first owner is created, or sets a password. */
  readonly setupUrl: string | undefined;
  readonly handle: HttpHandler;
  applySettings(): void;
  /** Serves the operator on the control socket of the data directory, too. Errors: as startControlServer. */
  openControl(): Promise<ControlServer>;
  searchCounts(): { readonly running: number; readonly waiting: number; readonly refused: number };
  close(): Promise<void>;
}

export interface RunningServer extends LocalServer {
  readonly address: BoundAddress;
  readonly http: HttpAdapter['kind'];
  /**
   * Reports not ready, stops accepting, drops pending requests after `graceMs` (10 s). Later calls wait for the first.
   */
  close(graceMs?: number): Promise<void>;
}

/** Errors: ConfigError if the address cannot be bound; NOT_READY if the store cannot be reached. */
export async function createServer(options: ServerOptions): Promise<RunningServer> {
  const { configuration, certificate } = options;
  const log = options.log.labelled('http');
  const opened = deferred();
  // The pipeline needs the bound address; what arrives before it exists waits, as a socket may hold connections already.
  let handle: HttpHandler = async (request) => {
    await opened.promise;
    return handle(request);
  };
  const adapter = await openAdapter(
    configuration.http,
    {
      handle: (request) => handle(request),
      isTls: certificate !== undefined,
      requestTimeoutMs: options.requestTimeoutMs,
      streamStallMs: options.streamStallMs,
    },
    log,
  );
  if (certificate !== undefined) encrypt(adapter, certificate);
  const { binding, address } = await bind(adapter, configuration);
  const url = configuration.baseUrl ?? defaultBaseUrl(binding, address, certificate !== undefined);
  const setupUrl = await options.accounts.begin({ baseUrl: url, isLoopback: binding.isLoopback });
  const hosts = allowedHosts(binding, configuration.baseUrl);
  const pipeline = makePipeline(options, { baseUrl: url, hasPages: true, hosts }, log);
  handle = (request) => pipeline.handle(request);
  opened.resolve();
  log.info('listening', { url, host: address.host, port: address.port, http: adapter.kind });
  let closing: Promise<void> | undefined;
  return {
    ...localServerOf(pipeline, configuration.dataDir),
    setupUrl,
    address,
    http: adapter.kind,
    close(graceMs = GRACE_MS) {
      pipeline.stop();
      closing ??= adapter.close(graceMs);
      return closing;
    },
  };
}

/** Errors: ConfigError if the adapter has no TLS. */
function encrypt(adapter: HttpAdapter, certificate: Certificate): void {
  if (!(adapter instanceof NodeAdapter))
    throw new ConfigError(
      VARIABLES.http.name,
      'uws serves without TLS',
      `use node, or unset ${VARIABLES.tlsCert.name} and ${VARIABLES.tlsKey.name}`,
    );
  certificate.onChange((pair) => adapter.useCertificate(pair));
}

/** Errors: ConfigError if the adapter cannot listen there. */
async function bind(
  adapter: HttpAdapter,
  configuration: Configuration,
): Promise<{ readonly binding: Binding; readonly address: BoundAddress }> {
  const { host, manager } = configuration;
  if (manager.listener !== undefined) {
    if (!(adapter instanceof NodeAdapter))
      throw new ConfigError(VARIABLES.http.name, 'uws takes no socket from systemd', 'use node');
    try {
      const address = await adapter.listenOn(manager.listener);
      return { binding: bindingOf(address.host), address };
    } catch (error) {
      await adapter.close(0);
      throw new ConfigError(
        'LISTEN_FDS',
        messageOf(error),
        'allowed: a TCP socket; give the socket unit a ListenStream= with a port',
      );
    }
  }
  const binding = await resolveBinding(host, VARIABLES.host);
  if (adapter.kind === 'uws' && !binding.isLoopback)
    throw new ConfigError(
      VARIABLES.http.name,
      `uws cannot listen on ${host}: its parser accepts malformed requests`,
      `use node, or a loopback address in ${VARIABLES.host.name}`,
    );
  const names = `--port and --host, or ${VARIABLES.port.name} and ${VARIABLES.host.name}`;
  return { binding, address: await listen(adapter, binding, configuration, names) };
}

export async function createLocalServer(options: ServerOptions): Promise<LocalServer> {
  const { baseUrl, port, dataDir } = options.configuration;
  const recorded = baseUrl ?? (await options.accounts.lastBaseUrl());
  const address = {
    baseUrl: recorded ?? `http://localhost:${port}`,
    hasPages: recorded !== undefined,
    hosts: undefined,
  };
  const log = options.log.labelled('http');
  return localServerOf(makePipeline(options, address, log), dataDir);
}

function localServerOf(pipeline: Pipeline, dataDir: string): LocalServer {
  return {
    url: pipeline.options.baseUrl,
    setupUrl: undefined,
    handle: (request) => pipeline.handle(request),
    openControl: () => startControlServer(dataDir, pipeline),
    applySettings: () => pipeline.applySettings(),
    searchCounts: () => pipeline.admission.counts,
    close: async () => pipeline.stop(),
  };
}

export function servedEndpoints(version: string, log: Log): readonly Endpoint[] {
  return [...ENDPOINTS, ...mcpEndpoints(version, log), ...OAUTH_ENDPOINTS, ...PAGE_ENDPOINTS];
}

function makePipeline(
  options: ServerOptions,
  address: Pick<PipelineOptions, 'baseUrl' | 'hasPages' | 'hosts'>,
  log: Log,
): Pipeline {
  const { configuration, services, accounts, ledger, onAnswerOver, onArrival, onRequest } = options;
  const version = readProductVersion();
  return new Pipeline({
    endpoints: servedEndpoints(version, log),
    services,
    get settings() {
      return configuration.settings;
    },
    accounts,
    ledger,
    ...address,
    version,
    log,
    onAnswerOver,
    onArrival,
    onRequest,
  });
}
