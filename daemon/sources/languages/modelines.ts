// Editor modelines that name the language of a file: Emacs (`-*- mode: c++ -*-`, `-*- C++ -*-`) and Vim (`vim: ft=ruby`),
// in the first and last lines, as linguist reads them.

/** Lines at each end that are read, and their bytes. */
const LINE_COUNT = 5;
const END_SIZE_MAX = 4096;

const EMACS = /-\*-(.+?)-\*-/;
/** Source: Vim's `:help modeline`: `vim:`, `vim600:`, `vi:`, and `ex:` after a blank; `set` may follow. */
const VIM = /(?:^|[ \t])(?:(?:[Vv]im|vi)(?:[<=>]?\d+)?|(?<=[ \t])ex):[ \t]*(.*)/;
const VIM_TYPE = /(?:^|[\s:])(?:filetype|ft|syntax|syn)=([\w+#-]+)/;

/**
 * Languages named by the modelines of a whole content, the most trusted first; editors' names, not linguist's. Cost: 2
 * µs if there is none.
 */
export function modelineNames(bytes: Uint8Array): string[] {
  const head = textOf(bytes, 0, Math.min(bytes.length, END_SIZE_MAX));
  const isWhole = bytes.length <= END_SIZE_MAX;
  const tail = isWhole ? head : textOf(bytes, bytes.length - END_SIZE_MAX, bytes.length);
  if (!hasMark(head) && (isWhole || !hasMark(tail))) return [];
  const lines = [
    ...head.split('\n').slice(0, LINE_COUNT),
    ...tail.replace(/\n+$/, '').split('\n').slice(-LINE_COUNT),
  ];
  return [...lines.flatMap(emacsMode), ...lines.flatMap(vimType)];
}

/** One character per byte: modelines are ASCII. */
function textOf({ buffer, byteOffset }: Uint8Array, start: number, end: number): string {
  return Buffer.from(buffer, byteOffset + start, end - start).toString('latin1');
}

function hasMark(text: string): boolean {
  return text.includes('-*-') || /\b(?:[Vv]im?|ex)(?:[<=>]?\d+)?:/.test(text);
}

function emacsMode(line: string): string[] {
  const inner = EMACS.exec(line)?.[1]?.trim();
  if (inner === undefined) return [];
  if (!inner.includes(':')) return [inner];
  const mode = /(?:^|;)\s*mode\s*:\s*([^\s;]+)/i.exec(inner)?.[1];
  return mode === undefined ? [] : [mode];
}

function vimType(line: string): string[] {
  const type = VIM_TYPE.exec(VIM.exec(line)?.[1] ?? '')?.[1];
  return type === undefined ? [] : [type];
}
