// Writes build/languages.json: the parts of the linguist data set that the daemon needs, as rows of
// [name, extensions, file names, interpreters, aliases]. Why: the package is 833 modules;
// importing them takes 220 to 300 ms in every process and worker thread, parsing this file 2 ms.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepContents } from './contents.mjs';
import * as languages from 'linguist-languages';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const rows = Object.values(languages)
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map((language) => [
    language.name,
    language.extensions ?? [],
    language.filenames ?? [],
    language.interpreters ?? [],
    language.aliases ?? [],
  ]);
writeFileSync(path.join(root, 'build', 'languages.json'), JSON.stringify(rows));
keepContents('languages', ['node_modules/linguist-languages']);
