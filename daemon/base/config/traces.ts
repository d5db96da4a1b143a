// Whether traces are sent, by the variables of OpenTelemetry. Its library reads the others itself.

import type { Environment } from './dispatcher.ts';

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** Off unless somebody names an exporter or an address. `refused`: why they are off although somebody does. */
export function traceChoice(env: Environment): {
  readonly isOn: boolean;
  readonly refused?: string;
} {
  const off = { isOn: false };
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return off;
  const named = ENDPOINTS.filter((name) => (env[name] ?? '') !== '');
  const exporter = env['OTEL_TRACES_EXPORTER'] || (named.length > 0 ? 'otlp' : 'none');
  if (exporter === 'none') return off;
  if (exporter !== 'otlp') return { ...off, refused: 'OTEL_TRACES_EXPORTER must be otlp or none' };
  // Why: the library would send to this machine instead.
  const bad = named.find((name) => !/^https?:$/.test(protocolOf(env[name])));
  return bad === undefined ? { isOn: true } : { ...off, refused: `${bad} is no http(s) address` };
}

function protocolOf(url = ''): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}
