// Which variables of OpenTelemetry turn traces on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceChoice } from '../../../daemon/base/config/traces.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };
const OFF = { isOn: false };

test('traces are off unless an exporter or an address is named', () => {
  assert.deepEqual(traceChoice({}), OFF);
  assert.deepEqual(traceChoice({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }), OFF);
  assert.deepEqual(traceChoice({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }), OFF);
  const on = { isOn: true };
  assert.deepEqual(traceChoice(ENDPOINT), on);
  assert.deepEqual(traceChoice({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://a.example/x' }), on);
  assert.deepEqual(traceChoice({ OTEL_TRACES_EXPORTER: 'otlp' }), on);
});

test('whoever turns them off is obeyed', () => {
  assert.deepEqual(traceChoice({ ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }), OFF);
  assert.deepEqual(traceChoice({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }), OFF);
});

test('another exporter, and what is no address, is refused without its value', () => {
  const refusalOf = (env: Record<string, string>): string | undefined => traceChoice(env).refused;
  assert.equal(
    refusalOf({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'zipkin' }),
    'OTEL_TRACES_EXPORTER must be otlp or none',
  );
  for (const url of ['user:secret@host:4318', 'localhost', 'ftp://secret@host', '//host'])
    assert.equal(
      refusalOf({ OTEL_EXPORTER_OTLP_ENDPOINT: url }),
      'OTEL_EXPORTER_OTLP_ENDPOINT is no http(s) address',
    );
});
