// The files for operators in daemon/deploy/ name what exists, and give a container no more rights than it needs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { VARIABLES, type Variable } from '../../daemon/base/config/variables.ts';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';

/** Variables that the daemon reads; secrets only as names of files. */
const NAMES: readonly string[] = Object.values<Variable>(VARIABLES).map(({ name, isSecret }) =>
  isSecret === true ? `${name}_FILE` : name,
);

function assertVariables(names: readonly string[]): void {
  const ours = names.filter((name) => name.startsWith('TRAWL_'));
  assert.ok(ours.length > 0);
  assert.deepEqual(
    ours.filter((name) => !NAMES.includes(name)),
    [],
  );
}

function assertPaths(paths: readonly string[]): void {
  assert.ok(paths.length > 0);
  const served = ENDPOINTS.map(({ path }) => path);
  for (const path of paths) assert.ok(served.includes(path), path);
}

const CONTAINERFILE = 'daemon/deploy/Containerfile';
/** The account of the image; the volume is writable for it. */
const ACCOUNT = 10_001;

void test('the image: the last stage is empty but for the files chosen, and runs as an account without rights', () => {
  const text = readFileSync(CONTAINERFILE, 'utf8').replaceAll(/\\\n\s*/g, ' ');
  const lines = text.split('\n').filter((line) => /^[A-Z]+ /.test(line));
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const of = (word: string): readonly string[] =>
    last.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  assert.deepEqual([of('FROM'), of('COPY')], [['scratch'], ['--from=build /image /']]);
  assert.deepEqual(of('USER'), [`${ACCOUNT}:${ACCOUNT}`]);
  assert.deepEqual([of('RUN'), of('ADD')], [[], []]);
  assert.match(text, new RegExp(`chown ${ACCOUNT}:${ACCOUNT} var/lib/trawl`));
  assertVariables(
    [
      ...of('ENV')
        .join(' ')
        .matchAll(/(\w+)=/g),
    ].map(([, name = '']) => name),
  );
  assertPaths(
    [
      ...of('HEALTHCHECK')
        .join(' ')
        .matchAll(/\/api\/\w+/g),
    ].map(([path]) => path),
  );
  assert.deepEqual([of('ENTRYPOINT'), of('CMD')], [['["tini", "--", "trawl"]'], ['["serve"]']]);
  const [, shown = ''] = /ENV (.*)/.exec(text) ?? [];
  const data = /TRAWL_DATA_DIR=(\S+)/.exec(shown)?.[1] ?? '';
  // Below the volume, so that the daemon creates it for itself alone.
  assert.ok(data.startsWith(`${of('VOLUME')[0]}/`), data);
});
