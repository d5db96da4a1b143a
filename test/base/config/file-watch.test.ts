// What tells that the configuration file may have changed: however it is written, replaced or linked to.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { openSource } from '../../../daemon/base/config/file-source.ts';
import { watchFile } from '../../../daemon/base/config/file-watch.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';

// A watch keeps no process alive.
const alive = setInterval(() => {}, 1_000);
after(() => clearInterval(alive));

interface Watched {
  readonly file: string;
  /** Does what changes the file; resolves when that was told, and the file has this text then. */
  readonly told: (change: () => void, text: string) => Promise<void>;
  readonly count: () => number;
}

function watchIn(t: TestContext, file: string): Watched {
  const source = openSource(file, '/');
  let count = 0;
  let look = (): void => {};
  const onChange = (): void => {
    count++;
    look();
  };
  const watched = watchFile({ source, onChange, onError: (reason) => assert.fail(reason) });
  t.after(() => watched.close());
  return {
    file,
    count: () => count,
    told: (change, text) =>
      new Promise((resolve) => {
        look = () => {
          if (readFileSync(file, 'utf8') === text) resolve();
        };
        change();
      }),
  };
}

/** Puts a text in the place of a file, as editors do. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}~`, text);
  renameSync(`${file}~`, file);
}

void test('written in place, replaced, removed and there again, many times', async (t) => {
  const file = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(file, 'a');
  const { told, count } = watchIn(t, file);
  assert.equal(count(), 1, 'it may have changed before it was watched');
  for (const round of [1, 2, 3]) {
    // Of the same size each time.
    await told(() => writeFileSync(file, `written ${round}`), `written ${round}`);
    await told(() => replace(file, `replaced ${round}`), `replaced ${round}`);
    const again = (): void => {
      rmSync(file);
      writeFileSync(file, `again ${round}`);
    };
    await told(again, `again ${round}`);
  }
});

void test('a link that leads elsewhere, and a folder that is exchanged as a whole', async (t) => {
  const folder = temporaryFolder();
  const version = (name: string, text: string): void => {
    mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, name, 'trawl.json'), text);
  };
  // As volumes of configuration are mounted into containers.
  version('v1', 'one');
  symlinkSync('v1', path.join(folder, '..data'));
  symlinkSync(path.join('..data', 'trawl.json'), path.join(folder, 'trawl.json'));
  const { file, told } = watchIn(t, path.join(folder, 'trawl.json'));
  version('v2', 'two');
  symlinkSync('v2', path.join(folder, '..new'));
  await told(() => renameSync(path.join(folder, '..new'), path.join(folder, '..data')), 'two');
  // The file that the link leads to lies in another folder.
  await told(() => replace(path.join(folder, 'v2', 'trawl.json'), 'three'), 'three');
  await told(() => replace(file, 'four'), 'four');
});

void test('what happens to other files of the folder is not told', async (t) => {
  const file = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(file, 'a');
  const { told, count } = watchIn(t, file);
  for (let i = 0; i < 20; i++) writeFileSync(path.join(path.dirname(file), `other${i}`), 'x');
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(count(), 1);
  await told(() => writeFileSync(file, 'b'), 'b');
});

void test('a folder that is not there cannot be watched, and that is told once', async (t) => {
  const troubles: string[] = [];
  const source = openSource(path.join(temporaryFolder(), 'gone', 'trawl.json'), '/');
  const watched = watchFile({
    source,
    onChange: () => assert.fail('told'),
    onError: (reason) => troubles.push(reason),
  });
  t.after(() => watched.close());
  assert.equal(troubles.length, 1);
  assert.match(troubles[0]!, /ENOENT/);
});

void test('an address is asked again and again', async () => {
  const source = openSource('http://127.0.0.1:1/x', '/');
  await new Promise<void>((resolve) => {
    let count = 0;
    const watched = watchFile({
      source,
      onChange: () => {
        if (++count < 3) return;
        void watched.close();
        resolve();
      },
      onError: (reason) => assert.fail(reason),
      pollMs: 5,
    });
  });
});
