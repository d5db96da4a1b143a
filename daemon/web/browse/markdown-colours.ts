// Syntax colours for code blocks of a document that name their language. The text appears first; colours never move it.

import { coloursSoon } from '../code/line-colours.ts';
import type { Colour } from '../code/marks.ts';

/** The daemon's language names, by the lower-case names that code blocks use. */
const NAMES: Readonly<Record<string, string>> = {
  bash: 'Shell',
  c: 'C',
  'c#': 'C#',
  'c++': 'C++',
  cpp: 'C++',
  cs: 'C#',
  csharp: 'C#',
  css: 'CSS',
  dockerfile: 'Dockerfile',
  go: 'Go',
  golang: 'Go',
  h: 'C',
  html: 'HTML',
  ini: 'INI',
  java: 'Java',
  javascript: 'JavaScript',
  js: 'JavaScript',
  json: 'JSON',
  jsonc: 'JSON with Comments',
  jsx: 'JavaScript',
  kotlin: 'Kotlin',
  lua: 'Lua',
  php: 'PHP',
  powershell: 'PowerShell',
  proto: 'Protocol Buffer',
  py: 'Python',
  python: 'Python',
  rb: 'Ruby',
  rs: 'Rust',
  ruby: 'Ruby',
  rust: 'Rust',
  scala: 'Scala',
  sh: 'Shell',
  shell: 'Shell',
  sql: 'SQL',
  swift: 'Swift',
  toml: 'TOML',
  ts: 'TypeScript',
  tsx: 'TSX',
  typescript: 'TypeScript',
  xml: 'XML',
  yaml: 'YAML',
  yml: 'YAML',
  zsh: 'Shell',
};

function nodesOf(line: string, colours: readonly Colour[]): (string | Node)[] {
  const nodes: (string | Node)[] = [];
  let end = 0;
  for (const { from, to, name } of colours) {
    if (from < end) continue;
    const span = document.createElement('span');
    span.className = name;
    span.textContent = line.slice(from, to);
    nodes.push(line.slice(end, from), span);
    end = to;
  }
  return [...nodes, line.slice(end)];
}

function colourBlock(block: Element, language: string): void {
  const lines = (block.textContent ?? '').split('\n');
  const key = `block:${language}:${lines.join('\n')}`;
  coloursSoon({ key, language, runs: () => [lines] }, (colours) =>
    block.replaceChildren(
      ...lines.flatMap((line, index) => [
        ...(index === 0 ? [] : ['\n']),
        ...nodesOf(line, colours[index] ?? []),
      ]),
    ),
  );
}

/** Removes `lang`: it holds a programming language, but browsers read it as a human one. */
export function colourBlocks(fragment: DocumentFragment): void {
  for (const block of fragment.querySelectorAll('pre[lang]')) {
    const name = block.getAttribute('lang')?.toLowerCase() ?? '';
    const language = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
    block.removeAttribute('lang');
    const code = block.querySelector('code');
    if (code !== null && language !== undefined) colourBlock(code, language);
  }
}
