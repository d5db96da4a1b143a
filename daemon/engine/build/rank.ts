// Classifies docs by path and the marks of their repo: the tier, which orders docs before any query (build-plan.ts), and the
// kind that results show.

import { baseNameOf } from '../../base/paths.ts';
import type { DocAttributes } from '../../sources/languages/attributes.ts';

/** 0: ordinary; 1: test; 2: vendored or generated. */
export type DocTier = 0 | 1 | 2;

function folderPattern(names: string): RegExp {
  return new RegExp(`(?:^|/)(?:${names.split(' ').join('|')})/`, 'i');
}

function namePattern(patterns: readonly string[], flags = ''): RegExp {
  return new RegExp(patterns.join('|'), flags);
}

const TEST_FOLDER = folderPattern(
  'tests? testing __tests__ __mocks__ specs? testdata test[-_]data fixtures? e2e unittests? ' +
    'selftests? testcases?',
);
const TEST_NAME = namePattern([
  String.raw`(?:^|[._-])(?:tests?|specs?)\.[^.]+$`,
  String.raw`^test[_-]`,
  String.raw`^conftest\.py$`,
  String.raw`(?:Tests?|Spec|IT)\.(?:java|kt|kts|scala|groovy|cs|swift|php|m|mm|cpp|cc)$`,
  String.raw`\.snap$`,
]);

const VENDORED_FOLDER = folderPattern(
  'vendor vendors vendored third[-_]?party 3rd[-_]?party node_modules bower_components jspm_packages ' +
    'externals? extern deps Godeps Pods Carthage site-packages dist-packages \\.yarn \\.venv venv',
);
const VENDORED_NAME = namePattern(
  [
    String.raw`^(?:jquery(?:[.-]ui)?|bootstrap|angular|react(?:-dom)?|d3|lodash|underscore|modernizr)` +
      String.raw`(?:[.-]v?\d[\w.]*)?(?:\.(?:slim|core|bundle))?(?:\.min)?\.(?:js|css)$`,
    String.raw`^gradlew(?:\.bat)?$`,
    String.raw`^mvnw(?:\.cmd)?$`,
  ],
  'i',
);

const GENERATED_FOLDER = folderPattern(
  '__generated__ generated autogen __pycache__ \\.next \\.nuxt',
);
/** Declarations that a build puts beside its compiled output. */
const GENERATED_PATH = /(?:^|\/)lib\/.*\.d\.[cm]?ts$/;
const LOCK_FILES = [
  'package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock',
  'Cargo.lock go.sum Gemfile.lock composer.lock poetry.lock uv.lock Pipfile.lock flake.lock mix.lock',
  'pubspec.lock Podfile.lock packages.lock.json gradle.lockfile',
].flatMap((line) => line.split(' '));
const GENERATED_NAME = namePattern([
  String.raw`\.min\.(?:js|mjs|cjs|css)$`,
  String.raw`\.(?:js|css|mjs|cjs)\.map$`,
  String.raw`[.-]bundle\.js$`,
  String.raw`(?:\.pb|_pb2(?:_grpc)?|\.pb\.gw|_pb|\.pb\.validate)\.(?:go|py|pyi|h|cc|c|rb|js|ts|dart|swift)$`,
  String.raw`_generated\.[^.]+$`,
  String.raw`_gen\.(?:go|rs|ts|js|dart|py|kt)$`,
  String.raw`[.-](?:generated|gen|g)\.(?:cs|dart|go|ts|js|java|kt|h|cc|py|rs)$`,
  String.raw`^zz_generated`,
  String.raw`\.designer\.(?:cs|vb)$`,
  ...LOCK_FILES.map((name) => `^${name.replaceAll('.', String.raw`\.`)}$`),
]);

const DOCUMENTATION_FOLDER = folderPattern('docs? documentation javadoc man manual');
const DOCUMENTATION_NAME = namePattern(
  [
    String.raw`\.(?:md|mdx|markdown|rst|adoc|asciidoc|texi|pod|rdoc|txt)$`,
    String.raw`^(?:readme|changelog|changes|contributing|copying|license|licence|authors|news|install|` +
      String.raw`todo|history|code_of_conduct|security)(?:\.|$)`,
  ],
  'i',
);
const DOTFILE = /(?:^|\/)\.[^/]/;

/** The repo's marks take precedence over the path. */
export function docTier(path: string, { isVendored, isGenerated }: DocAttributes = {}): DocTier {
  if ((isVendored ?? isVendoredPath(path)) || (isGenerated ?? isGeneratedPath(path))) return 2;
  return TEST_FOLDER.test(path) || TEST_NAME.test(baseNameOf(path)) ? 1 : 0;
}

function isVendoredPath(path: string): boolean {
  return VENDORED_FOLDER.test(path) || VENDORED_NAME.test(baseNameOf(path));
}

function isGeneratedPath(path: string): boolean {
  const name = baseNameOf(path);
  return GENERATED_NAME.test(name) || GENERATED_FOLDER.test(path) || GENERATED_PATH.test(path);
}

function isDocumentationPath(path: string): boolean {
  return DOCUMENTATION_NAME.test(baseNameOf(path)) || DOCUMENTATION_FOLDER.test(path);
}

/** Kinds as in the API (API.md 6.3). */
export const FILE_KINDS = ['code', 'test', 'generated', 'vendored', 'docs'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** The kind of an indexed doc. Tier 2 without a vendored path counts as generated: the index does not store the marks. */
export function fileKindOf(path: string, tier: number): FileKind {
  if (tier === 1) return 'test';
  if (tier === 2) return isVendoredPath(path) ? 'vendored' : 'generated';
  return !DOTFILE.test(path) && isDocumentationPath(path) ? 'docs' : 'code';
}
