// Which packages are in what was built. Each step of the build keeps its list in build/contents/; `npm run pack` makes of them
// the licences and the bill of materials (CycloneDX, by `npm sbom`) of what it ships.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, 'build', 'contents');

/** Keeps the packages that `files` are of. What is in build/node_modules is listed by who wrote it (packages.mjs). */
export function keepContents(part, files) {
  const found = files.flatMap(
    (file) => /^(?!build\/).*node_modules\/(@[^/]+\/)?[^/]+/.exec(relative(file))?.[0] ?? [],
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${part}.json`), JSON.stringify([...new Set(found)]));
}

function relative(file) {
  return path.isAbsolute(file) ? path.relative(root, file) : file;
}

/** Files of which esbuild has put something into its outputs. */
export function inputsOf({ metafile }) {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([name]) => name);
}

/** Folders of packages, relative to the checkout. The core has parts of the library of its compiler. */
function packages() {
  const lists = readdirSync(folder).map((name) =>
    JSON.parse(readFileSync(path.join(folder, name), 'utf8')),
  );
  return [...new Set(['node_modules/assemblyscript', ...lists.flat()])].sort((a, b) =>
    a < b ? -1 : 1,
  );
}

const LICENCE_FILE = /^(licen[cs]e|copying|notice|thirdpartynotice)|^swagger-ui-bundle\.js\.licen/i;

const MIT = `MIT License

COPYRIGHT

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Packages under the MIT licence that have no file of it: who holds the copyright, by README or author. */
const MIT_OWNERS = {
  'pg-types': '2014 Brian M. Carlson',
  pgpass: '2013-2016 Hannes Hörl',
  'react-remove-scroll-bar': '2017 Anton Korzunov',
};

/** Errors: the package has none. @param place  folder of a package */
export function licenceOf(place) {
  const files = readdirSync(place).filter((name) => LICENCE_FILE.test(name));
  const texts = files.map((name) => readFileSync(path.join(place, name), 'utf8').trim());
  const { name, license } = JSON.parse(readFileSync(path.join(place, 'package.json'), 'utf8'));
  if (license === 'MIT' && MIT_OWNERS[name] !== undefined) texts.push(mit(MIT_OWNERS[name]));
  // The same text in all places.
  if (license === 'Unlicense' && files.length === 0)
    return licenceOf(path.join(root, 'node_modules/@repomix/tree-sitter-wasms'));
  const text = texts.filter(Boolean).join('\n\n');
  if (text === '') throw new Error(`${name} is shipped and has no licence text`);
  return text;
}

function mit(owner) {
  return MIT.replace('COPYRIGHT', `Copyright (c) ${owner}`);
}

/** Writes LICENSES.txt and bom.cdx.json into `target`. `natives`: names of packages that npm installs beside it. */
export function writeNotices(target, natives) {
  const places = packages();
  const byText = new Map();
  const note = (name, text) => byText.set(text, [...(byText.get(text) ?? []), name]);
  for (const place of places) note(nameOf(place), licenceOf(path.join(root, place)));
  for (const { name, copyright } of grammars()) note(name, mit(copyright));
  const blocks = [...byText].map(([text, names]) => `${names.join(', ')}\n\n${text}\n`);
  writeFileSync(path.join(target, 'LICENSES.txt'), [HEAD, ...blocks].join(RULE));
  writeFileSync(path.join(target, 'bom.cdx.json'), JSON.stringify(bomOf(places, natives)));
}

const HEAD = 'Trawl (LICENSE) contains all or parts of these packages.\n';
const RULE = `\n${'-'.repeat(80)}\n\n`;

/** Name and version. */
function nameOf(place) {
  const { name, version } = JSON.parse(
    readFileSync(path.join(root, place, 'package.json'), 'utf8'),
  );
  return `${name}@${version}`;
}

/** Grammars of others within packages (scripts/grammars.json): each is under the MIT licence. */
function grammars() {
  return JSON.parse(readFileSync(path.join(root, 'scripts', 'grammars.json'), 'utf8'));
}

/** A grammar as a component. */
function componentOf({ name, source }) {
  return {
    'bom-ref': name,
    type: 'library',
    name,
    scope: 'required',
    licenses: [{ license: { id: 'MIT' } }],
    externalReferences: [{ type: 'vcs', url: source }],
  };
}

/** CycloneDX 1.5: what `npm sbom` says of the packages in `places`, and the grammars; the native ones are optional. */
function bomOf(places, natives) {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout, status, stderr } = spawnSync('npm', args, { cwd: root, maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`npm sbom failed: ${String(stderr)}`);
  const bom = JSON.parse(stdout);
  const names = new Set(places.map(nameOf));
  const isNative = ({ name }) => natives.includes(name);
  const components = bom.components.filter((one) => names.has(one['bom-ref']) || isNative(one));
  for (const one of components) {
    one.scope = isNative(one) ? 'optional' : 'required';
    // Here they are no dependencies of development.
    one.properties = one.properties?.filter(({ name }) => name !== 'cdx:npm:package:development');
  }
  const [{ component }, refs] = [bom.metadata, new Set(components.map((one) => one['bom-ref']))];
  component.name = 'trawl';
  component.type = 'application';
  component.properties = [];
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((to) => refs.has(to)) }));
  dependencies.push({ ref: component['bom-ref'], dependsOn: [...refs] });
  return { ...bom, components: [...components, ...grammars().map(componentOf)], dependencies };
}
