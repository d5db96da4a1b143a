// The seed of all tests that draw lots, properties included: always the same one, so that whoever changes something meets
// no failure that was there before. TRAWL_TEST_SEED: another one; `random`: one by the clock, which the run prints
// (scripts/test.mjs, scripts/test-setup.mjs).

export const SEED = Number(process.env['TRAWL_TEST_SEED'] ?? '1');
