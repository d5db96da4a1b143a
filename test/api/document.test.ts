// The API description: a valid document that says what the contract demands, and agrees with endpoints, error codes
// and the golden listing.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { ERRORS, type ErrorCode } from '../../daemon/api/shapes/api-error.ts';
import { Router } from '../../daemon/http/router.ts';
import { headerOf, operationsOf, wholeDocument } from './document.ts';
import { GOLDEN_FILE, listingOf, publicDocument } from './golden.ts';

const document = publicDocument();
const operations = operationsOf(document);

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

test('the documents are valid OpenAPI 3.1', async () => {
  for (const one of [document, wholeDocument()]) {
    const result = await new Validator().validate(structuredClone(one) as never);
    assert.deepEqual(result, { valid: true });
  }
  const broken = { ...document, paths: { '/x': { get: { responses: 'none' } } } };
  assert.equal((await new Validator().validate(broken as never)).valid, false);
});

test('label, product version, address and authentication methods', () => {
  assert.equal(document.openapi, '3.1.0');
  assert.equal(document.info['version'], 'v5.1.6');
  assert.equal(document.info['x-product-version'], '0.0.0');
  assert.deepEqual(document.servers, [{ url: 'http://localhost:3000' }]);
  const { bearer, serviceApiKey } = document.components.securitySchemes as Record<string, object>;
  assert.deepEqual(Object.keys(document.components.securitySchemes), ['bearer', 'serviceApiKey']);
  assert.deepEqual(
    { ...bearer, description: 0 },
    { type: 'http', scheme: 'bearer', description: 0 },
  );
  assert.deepEqual(
    { ...serviceApiKey, description: 0 },
    { type: 'apiKey', in: 'header', name: 'X-Service-Api-Key', description: 0 },
  );
});

test('the document contains exactly the described endpoints', () => {
  const described = ENDPOINTS.filter(({ isDescribed }) => isDescribed);
  assert.deepEqual(
    operations.map(({ method, path }) => `${method} ${path}`).sort(),
    described.map(({ method, path }) => `${method} ${path}`).sort(),
  );
  const router = new Router(ENDPOINTS, 'http://localhost');
  for (const { method, path, operation } of operations) {
    const route = router.find(path.replaceAll(/\{\w+\}/g, 'x'))?.route;
    assert.equal(route?.get(method)?.operationId, operation.operationId, path);
  }
  const ids = ENDPOINTS.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length, 'an operation id is used twice');
});

test('path parameters match the template', () => {
  for (const { path, operation } of operationsOf(wholeDocument())) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = (operation.parameters ?? []).filter(({ in: where }) => where === 'path');
    assert.deepEqual(
      parameters.map(({ name }) => name),
      names,
    );
    assert.ok(parameters.every(({ required }) => required === true));
  }
});

test('every operation has one listed tag, and its credentials follow from its access', () => {
  const tags = document.tags.map(({ name }) => name);
  const credentials = { bearer: 'bearer', serviceApiKey: 'serviceApiKey', none: '' };
  const all = [{ [credentials.bearer]: [] }, { [credentials.serviceApiKey]: [] }];
  for (const { operation } of operations) {
    const endpoint = ENDPOINTS.find(({ operationId }) => operationId === operation.operationId)!;
    assert.equal(operation.tags.length, 1);
    assert.ok(tags.includes(operation.tags[0]!));
    const expected = { none: [{}], opt: [...all, {}] }[endpoint.access as string] ?? all;
    assert.deepEqual(operation.security, expected, operation.operationId);
  }
});

test('counted endpoints have the limit headers', () => {
  for (const { path, operation } of operations) {
    const { isCounted } = ENDPOINTS.find(
      ({ operationId }) => operationId === operation.operationId,
    )!;
    assert.equal('429' in operation.responses, isCounted, path);
    for (const [status, { headers }] of Object.entries(operation.responses)) {
      const has = RATE_HEADERS.map((name) => name in headers);
      const expected = isCounted && status !== '401';
      assert.deepEqual(has, [expected, expected, expected], `${path} ${status}`);
      assert.ok(headerOf(document, headers['X-Request-Id']!).required);
    }
  }
});

test('error codes: registry and document agree, with statuses and meanings', () => {
  const { ErrorCode: component } = document.components.schemas;
  const codes = Object.keys(ERRORS);
  assert.deepEqual(component?.enum, codes);
  const rows = [...(component?.description ?? '').matchAll(/^\| ([A-Z_]+) \| (\d+) \| (.+) \|$/gm)];
  assert.deepEqual(
    rows.map(([, code, status, meaning]) => [code, Number(status), meaning]),
    Object.entries(ERRORS).map(([code, row]) => [code, ...row]),
  );
});

test('each error response lists codes of its status, other responses none', () => {
  for (const { path, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const codes = response['x-error-codes'] ?? [];
      const isError = Number(status) >= 400 && response.content !== undefined;
      assert.equal(codes.length > 0, isError, `${path} ${status}`);
      for (const code of codes) {
        assert.equal(ERRORS[code as ErrorCode][0], Number(status), code);
        assert.ok(response.description.includes(`\`${code}\``));
      }
    }
  }
});

test('integers have explicit bounds, not those of the library', () => {
  const text = JSON.stringify(wholeDocument());
  assert.ok(!text.includes('-9007199254740991'));
  const integers = [...text.matchAll(/\{[^{}]*"type":"integer"[^{}]*\}/g)];
  assert.ok(integers.length > 20);
  for (const [integer] of integers)
    assert.match(integer, /"minimum":(?:[01]|32|1024)\b|"minimum":400/);
});

test('no schema of an answer forbids additional members', () => {
  const closed = '"additionalProperties":false';
  assert.ok(!JSON.stringify(document.components.schemas).includes(closed));
  for (const { path, operation } of operations)
    assert.ok(!JSON.stringify(operation.responses).includes(closed), path);
});

test('names, types and required members are unchanged', () => {
  assert.equal(
    listingOf(document),
    readFileSync(GOLDEN_FILE, 'utf8'),
    'the API description has changed; if that is meant, run `npm run golden` and look at the difference',
  );
});
