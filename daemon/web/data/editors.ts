// Editors that open a file by a link, and how the link is built. Pure.

export const EDITORS = {
  none: { name: 'None', template: '' },
  vscode: { name: 'VS Code', template: 'vscode://file{file}:{line}:{column}' },
  jetbrains: {
    name: 'JetBrains',
    template: 'jetbrains://idea/navigate/reference?project={name}&path={path}:{line}',
  },
  zed: { name: 'Zed', template: 'zed://file{file}:{line}:{column}' },
  custom: { name: 'Other', template: '' },
} as const;

export type Editor = keyof typeof EDITORS;

export interface EditorChoice {
  readonly editor: Editor;
  /** Folder of the reader's clones, such as `/home/me/src/{name}`. */
  readonly cloneFolder: string;
  /** Link template for a custom editor. */
  readonly editorTemplate: string;
}

export interface EditorTarget {
  readonly repo: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Schemes that the browser itself opens or executes. */
const OWN_SCHEMES = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):/i;

function encoded(path: string): string {
  return path
    .replaceAll('\\', '/')
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3A', ':'))
    .join('/');
}

/** Fills in the placeholders in braces; unknown ones stay. */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}

/**
 * The link that opens a location in the chosen editor; undefined: no editor is chosen, or the settings give no valid
 * link.
 */
export function editorLink(choice: EditorChoice, target: EditorTarget): string | undefined {
  const { editor, cloneFolder, editorTemplate } = choice;
  const template = editor === 'custom' ? editorTemplate.trim() : EDITORS[editor].template;
  const { repo, path, line, column } = target;
  const name = repo.split('/').at(-1) ?? repo;
  const folder = filled(cloneFolder.trim(), { repo, name }).replace(/[\\/]+$/, '');
  if (template.includes('{file}') && folder === '') return undefined;
  const link = filled(template, {
    // Begins with a slash, also before a drive letter.
    file: encoded(`/${folder.replace(/^\//, '')}/${path}`),
    repo: encoded(repo),
    name: encodeURIComponent(name),
    path: encoded(path),
    line: String(line),
    column: String(column),
  });
  return /^[a-z][a-z0-9+.-]*:./i.test(link) && !OWN_SCHEMES.test(link) ? link : undefined;
}
