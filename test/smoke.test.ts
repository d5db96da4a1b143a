import test from 'node:test';
test('smoke', () => {});
