// A server with endpoints of a test on a free port, everybody welcome, and a client that sends paths as they are.

import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { readSettings } from '../../daemon/base/config/settings.ts';
import type { Environment } from '../../daemon/base/config/configuration.ts';
import { createLog } from '../../daemon/base/log.ts';
import type { ControlPlane } from '../../daemon/control-plane.ts';
import type { BoundAddress } from '../../daemon/http/adapters/adapter.ts';
import { openAdapter } from '../../daemon/http/adapters/open-adapter.ts';
import type { Endpoint } from '../../daemon/http/api/shapes/endpoint.ts';
import { Pipeline } from '../../daemon/http/pipeline.ts';
import { startControl } from './control.ts';

export interface Mounted {
  readonly address: BoundAddress;
  readonly control: ControlPlane;
  readonly pipeline: Pipeline;
  /** Log lines, parsed. */
  readonly lines: Record<string, unknown>[];
  close(): Promise<void>;
}

export async function serveEndpoints(
  kind: 'uws' | 'node',
  endpoints: readonly Endpoint[],
  settings: Parameters<typeof readSettings>[0] = {},
  env: Environment = {},
): Promise<Mounted> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  const log = createLog({ level: 'info', format: 'json', write });
  const control = await startControl({ TRAWL_ANONYMOUS_ACCESS: 'true', ...env }, true);
  const pipeline = new Pipeline({
    endpoints,
    services: {} as never,
    settings: readSettings(settings),
    ...control,
    baseUrl: 'http://localhost',
    hosts: undefined,
    version: '0',
    log,
  });
  const adapter = await openAdapter(kind, { handle: pipeline.handle.bind(pipeline) }, log);
  const address = await adapter.listen('127.0.0.1', 0);
  const close = async () => {
    await adapter.close(0);
    await control.close();
  };
  return { address, control, pipeline, lines, close };
}

export interface RawCall {
  readonly method?: string;
  /** Sent as it is. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export function ask({ address }: Pick<Mounted, 'address'>, call: RawCall): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const { body, ...head } = call;
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const headers = { ...length, ...call.headers };
    const sent = request({ ...address, agent: false, ...head, headers } as object, (reply) => {
      const pieces: Buffer[] = [];
      reply.on('data', (piece: Buffer) => pieces.push(piece));
      reply.on('error', reject);
      reply.on('end', () =>
        resolve({
          status: reply.statusCode ?? 0,
          headers: reply.headers,
          body: Buffer.concat(pieces),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
