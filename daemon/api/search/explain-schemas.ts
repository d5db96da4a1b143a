// Schemas of the answer that explains a search: its query and plan, totals, and a row for each shard.

import { z } from 'zod';
import type { ConditionNode, GramNode } from '../../engine/search/explain-plan.ts';
import { exhaustiveness, stats, statsShares, statsNumbers } from './search-schemas.ts';
import { integer, text } from '../shapes/schemas.ts';

const gramNode = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.enum(['and', 'or']),
      get children(): z.ZodArray<z.ZodType<GramNode>> {
        return z.array(gramNode);
      },
    }),
    z.object({
      kind: z.literal('gram'),
      gram: text('Characters looked up, folded.'),
      blocks: integer('Blocks that hold it.').exactOptional(),
    }),
    z.object({ kind: z.literal('scan') }),
  ])
  .meta({ id: 'GramNode', description: 'How a literal or an expression is looked up.' });

const conditionNode = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.enum(['all', 'none']) }),
    z.object({
      kind: z.enum(['and', 'or', 'not']),
      get children(): z.ZodArray<z.ZodType<ConditionNode>> {
        return z.array(conditionNode);
      },
    }),
    z.object({
      kind: z.literal('filter'),
      condition: text('In the form of queries.'),
      docs: integer('Files that it leaves on its own.').exactOptional(),
    }),
    z.object({
      kind: z.literal('content'),
      condition: text('In the form of queries.'),
      grams: gramNode,
      blocks: integer('Candidate blocks on its own.').exactOptional(),
      docs: integer('Candidate files on its own.').exactOptional(),
      shardsScanned: integer('Shards in which all blocks are candidates.').exactOptional(),
    }),
  ])
  .meta({ id: 'ConditionNode', description: 'A condition of the plan.' });

const regexReport = z
  .object({
    expression: text('In canonical form.'),
    engine: text('How it is run.'),
    requires: text('What every match holds.'),
    begins: text('What holds where a match begins, if it may span lines.').optional(),
    needles: z.array(z.string()).optional().meta({ description: 'Texts looked for first.' }),
  })
  .meta({ id: 'RegexReport', description: 'How a regular expression of the query is run.' });

const shardReport = z
  .object({
    id: text('Id of the shard.'),
    repository: text('Name of its repository.'),
    class: z.enum(['scanned', 'skipped_filter', 'skipped', 'crashed']),
    reason: text('Why it is of this class, in words.'),
    docs: integer('Live files.'),
    estimatedBytes: integer('Bytes that verifying was expected to read.'),
    stats: z.object(statsShares).meta({
      id: 'ShardStats',
      description: 'Its share of each number that has shares.',
    }),
  })
  .meta({ id: 'ShardReport', description: 'What became of an eligible shard.' });

const bestDoc = z
  .object({
    repository: text('Name of its repository.'),
    fileName: text('Path of the file.'),
    score: integer('What it is ordered by.'),
    parts: z
      .object({
        symbol: integer('For the symbol that the words cover best.'),
        name: integer('For what they cover of the base name.'),
        text: integer('For how often and how well they match.'),
        near: integer('For how near together they stand.'),
        tier: z.number().meta({
          description:
            'What these are multiplied by: less than 1 in tests, vendored and generated files.',
        }),
        path: integer('For the path, of a file whose content has no range.'),
        leaves: integer('For the share of the words that match.'),
      })
      .exactOptional()
      .meta({
        description: 'What the score is made of, rounded; absent where it was not found again.',
      }),
  })
  .meta({ id: 'BestFile', description: 'One of the best files, and why.' });

export type { ConditionNode };

export type ShardRow = z.infer<typeof shardReport>;

export const explanation = z
  .object({
    query: z.object({
      canonical: text('The query as it was understood.'),
      implicitRevision: text('The revision it is restricted to as it names none.').optional(),
    }),
    plan: z.object({
      conditions: conditionNode,
      regexps: z.array(regexReport),
      estimatedBytes: integer('Bytes to verify as the index promised.'),
      verifiedBytes: integer('Bytes that verifying read.'),
    }),
    totals: z.object({
      shardsEligible: integer('Shards with a file in scope.'),
      shardsOutOfScope: integer('Shards without.'),
      docsInScope: integer('Files in scope.'),
      bytesInScope: integer(
        'Bytes of the files of the default revisions in scope whose content is searched.',
      ),
      ...statsNumbers,
    }),
    best: z.array(bestDoc).meta({ description: 'The first files of the answer, 10 at most.' }),
    shards: z.array(shardReport).optional().meta({ description: 'For owners only.' }),
    stats,
    ...exhaustiveness,
  })
  .meta({ id: 'Explanation', description: 'How a search was planned and run.' });

export type Explanation = z.infer<typeof explanation>;
