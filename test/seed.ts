// The seed of all tests that draw lots: always the same one, so that whoever changes something meets no failure that was there
// before. TRAWL_TEST_SEED: another one; `random`: one by the clock. Tests name it where they fail.

const asked = process.env['TRAWL_TEST_SEED'] ?? '1';

export const SEED = asked === 'random' ? Date.now() % 1_000_000 : Number(asked);
