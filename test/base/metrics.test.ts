// Metrics as text: counters, histograms, what is read, labels that try to break out of a line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cacheSamples,
  Metrics,
  measuredCache,
  measuredPool,
  poolSamples,
} from '../../daemon/base/metrics.ts';
import { Slots } from '../../daemon/base/slots.ts';

test('counters and what is read, in the order of their definition', () => {
  const metrics = new Metrics();
  const counter = metrics.counter({ name: 'a_total', help: 'Some.', labels: ['kind', 'odd'] });
  let value = 1;
  metrics.read('gauge', { name: 'b', help: 'Read.' }, () => value);
  metrics.counter({ name: 'c_total', help: 'None yet.' });
  counter.add(['x', 'say "\\"\n']);
  counter.add(['x', 'say "\\"\n'], 2);
  counter.add(['y', '']);
  value = 2.5;
  assert.equal(
    metrics.text(),
    [
      '# HELP a_total Some.',
      '# TYPE a_total counter',
      String.raw`a_total{kind="x",odd="say \"\\\"\n"} 3`,
      'a_total{kind="y",odd=""} 1',
      '# HELP b Read.',
      '# TYPE b gauge',
      'b 2.5',
      '# HELP c_total None yet.',
      '# TYPE c_total counter',
      'c_total 0',
      '',
    ].join('\n'),
  );
});

test('a histogram has cumulative buckets, their upper ends included', () => {
  const metrics = new Metrics();
  const times = metrics.histogram({ name: 't', help: 'T.', labels: ['k'] }, [0.5, 1]);
  for (const value of [0.25, 0.5, 0.75, 4]) times.observe(['s'], value);
  assert.deepEqual(metrics.text().split('\n').slice(2, -1), [
    't_bucket{k="s",le="0.5"} 2',
    't_bucket{k="s",le="1"} 3',
    't_bucket{k="s",le="+Inf"} 4',
    't_sum{k="s"} 5.5',
    't_count{k="s"} 4',
  ]);
});

test('what is no number is not among the least; labels with line ends are told apart', () => {
  const metrics = new Metrics();
  const times = metrics.histogram({ name: 't', help: 'T.' }, [1]);
  times.observe([], NaN);
  const counter = metrics.counter({ name: 'n', help: 'N.', labels: ['a', 'b'] });
  counter.add(['\n', '']);
  counter.add(['', '\n']);
  const lines = metrics.text().split('\n');
  assert.ok(lines.includes('t_bucket{le="1"} 0') && lines.includes('t_bucket{le="+Inf"} 1'));
  assert.equal(lines.filter((line) => line.startsWith('n{')).length, 2);
});

test('labels of too many values are told together', () => {
  const metrics = new Metrics();
  const counter = metrics.counter({ name: 'n', help: 'N.', labels: ['id'] });
  for (let id = 0; id < 6000; id++) counter.add([String(id)]);
  const lines = metrics.text().split('\n');
  assert.ok(lines.length < 5010);
  const others = lines.find((line) => line.startsWith('n{id="other"}')) ?? '';
  assert.equal(Number(others.split(' ')[1]), 6000 - (lines.length - 4));
});

test('named pools and caches are read as they are now', async () => {
  const slots = measuredPool('test pool', new Slots({ runningMax: 1 }));
  const cache = measuredCache('test cache', new Map([['a', 1]]));
  cache.set('b', 2);
  await slots.run('', undefined, async () => {
    const ours = poolSamples().filter(([labels]) => labels[0] === 'test pool');
    assert.deepEqual(ours, [
      [['test pool', 'running'], 1],
      [['test pool', 'waiting'], 0],
    ]);
  });
  assert.deepEqual(
    cacheSamples().find(([labels]) => labels[0] === 'test cache'),
    [['test cache'], 2],
  );
});
