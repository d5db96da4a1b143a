// Shared by the operator's commands: opening the store, tables, rows, JSON.

import type { CliContext } from './context.ts';
import { formatColumns } from './format.ts';
import { commonOptions, type CommonFlags } from './options.ts';
import { quietly } from './open-local.ts';
import type { Operator } from './operator.ts';
import type { AnswerOf, TypedEndpoint } from '../api/shapes/endpoint.ts';
import { escapeControls } from './terminal-text.ts';

export interface OperatorFlags extends CommonFlags {
  readonly json?: true;
}

export async function withOperator<Result>(
  flags: CommonFlags,
  work: (operator: Operator) => Promise<Result>,
  isMaking = false,
): Promise<Result> {
  // Loaded on first use, as other commands start faster without it.
  const { openOperator } = await import('./operator.ts');
  const operator = await openOperator(await quietly(commonOptions(flags)), isMaking);
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
}

export function callOperator<E extends TypedEndpoint>(
  flags: CommonFlags,
  ...call: Parameters<typeof Operator.prototype.call<E>>
): Promise<AnswerOf<E>> {
  return withOperator(flags, (operator) => operator.call<E>(...call));
}

type Cell = string | number | null;

/** Objects as a table with a header of `columns`; null is `-`. */
export function formatTable<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, Cell>>[],
  hasHead = true,
): string {
  const cells = rows.map((row) => columns.map((column) => cellText(row[column])));
  const head = columns.map((column) =>
    column.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
  );
  return formatColumns(hasHead ? [head, ...cells] : cells);
}

function cellText(value: Cell): string {
  return value === null || value === '' ? '-' : escapeControls(String(value));
}

interface TableShape<Row, Column extends string> {
  readonly columns: readonly Column[];
  readonly cellsOf: (row: Row) => Readonly<Record<Column, Cell>>;
  readonly hasHead?: boolean;
}

/** Prints the pages of a list as a table, or with --json one object per line. */
export async function printTable<Row extends object, Column extends string>(
  { stdout }: CliContext,
  { json }: OperatorFlags,
  pages: AsyncIterable<readonly Row[]> | readonly (readonly Row[])[],
  { columns, cellsOf, hasHead = true }: TableShape<Row, Column>,
): Promise<void> {
  let isFirst = true;
  for await (const rows of pages) {
    const table = (): string => formatTable(columns, rows.map(cellsOf), hasHead && isFirst);
    stdout.write(json ? formatJsonLines(rows) : table());
    isFirst = false;
  }
}

export function formatJsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
