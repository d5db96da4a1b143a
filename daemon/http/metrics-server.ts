// Serves GET /metrics at an address of its own, and nothing else (API.md 24.1). Its readers need no credential.

import type { ListenAddress } from '../base/config/configuration.ts';
import { VARIABLES } from '../base/config/variables.ts';
import type { HttpRequest, HttpResponse } from './adapters/adapter.ts';
import { NodeAdapter } from './adapters/node-adapter.ts';
import { allowedHosts, isHostAllowed, listen, resolveBinding } from './binding.ts';

const GRACE_MS = 1_000;
const PATH = '/metrics';

export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Errors: ConfigError if the address cannot be bound. */
export async function startMetricsServer(
  at: ListenAddress,
  metrics: MetricsText,
): Promise<MetricsServer> {
  const { metricsHost, metricsPort } = VARIABLES;
  const binding = await resolveBinding(at.host, metricsHost);
  const hosts = allowedHosts(binding, undefined);
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    if (request.fault !== undefined) return plain(400);
    if (!isHostAllowed(hosts, request.headers.get('host'))) return plain(403);
    if (request.path !== PATH) return plain(404);
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, { Allow: 'GET' });
    const headers = { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' };
    return { status: 200, headers, body: Buffer.from(await metrics.text()) };
  };
  const adapter = new NodeAdapter({ handle });
  const names = `${metricsPort.name} and ${metricsHost.name}`;
  const { host, port } = await listen(adapter, binding, at, names);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}${PATH}`;
  return { url, close: () => adapter.close(GRACE_MS) };
}

function plain(status: number, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers, body: undefined };
}
