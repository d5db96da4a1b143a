// Reads metrics in the text format of Prometheus, as far as the daemon uses it.

import assert from 'node:assert/strict';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function samplesIn(text: string): readonly Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const parsed = /^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$/.exec(line);
    assert.ok(parsed, line);
    const [, name = '', labels = '', value] = parsed;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    const ofLabels = Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, text]));
    return { name, labels: ofLabels, value: Number(value) };
  });
}
