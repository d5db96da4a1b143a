// Editors that open a file by a link, and what the link is made of. Pure.

export const EDITORS = {
  none: { name: 'none', template: '' },
  vscode: { name: 'VS Code', template: 'vscode://file{file}:{line}:{column}' },
  jetbrains: {
    name: 'JetBrains',
    template: 'jetbrains://idea/navigate/reference?project={name}&path={path}:{line}',
  },
  zed: { name: 'Zed', template: 'zed://file{file}:{line}:{column}' },
  custom: { name: 'another', template: '' },
} as const;

export type Editor = keyof typeof EDITORS;

export interface EditorChoice {
  readonly editor: Editor;
  /** Where the clones lie on the machine of the reader, such as `/home/me/src/{name}`. */
  readonly cloneFolder: string;
  /** Of another editor. */
  readonly editorTemplate: string;
}

export interface EditorTarget {
  readonly repo: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Schemes that a browser itself reads or runs. */
const OWN_SCHEMES = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):/i;

function encoded(path: string): string {
  return path
    .replaceAll('\\', '/')
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3A', ':'))
    .join('/');
}

/** What stands in braces, filled in; what is not known stays. */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** The link that opens a place in the chosen editor; undefined: none is chosen, or what is chosen makes no link. */
export function editorLink(choice: EditorChoice, target: EditorTarget): string | undefined {
  const { editor, cloneFolder, editorTemplate } = choice;
  const template = editor === 'custom' ? editorTemplate.trim() : EDITORS[editor].template;
  const { repo, path, line, column } = target;
  const name = repo.split('/').at(-1) ?? repo;
  const folder = filled(cloneFolder.trim(), { repo, name }).replace(/[\\/]+$/, '');
  if (template.includes('{file}') && folder === '') return undefined;
  const link = filled(template, {
    // With a slash before it, before the letter of a drive too.
    file: encoded(`/${folder.replace(/^\//, '')}/${path}`),
    repo: encoded(repo),
    name: encodeURIComponent(name),
    path: encoded(path),
    line: String(line),
    column: String(column),
  });
  return /^[a-z][a-z0-9+.-]*:./i.test(link) && !OWN_SCHEMES.test(link) ? link : undefined;
}
