// Schemas of the explain answer: query, plan, totals, and a row for each shard.

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
      docs: integer('Files that satisfy this condition, where it was looked up.').exactOptional(),
    }),
    z.object({
      kind: z.literal('content'),
      condition: text('In the form of queries.'),
      grams: gramNode,
      blocks: integer(
        'Candidate blocks of this condition, where it was looked up.',
      ).exactOptional(),
      docs: integer('Candidate files of this condition, where it was looked up.').exactOptional(),
      shardsScanned: integer('Shards in which all blocks are candidates.').exactOptional(),
    }),
  ])
  .meta({ id: 'ConditionNode', description: 'A condition of the plan.' });

const regexReport = z
  .object({
    expression: text('In canonical form.'),
    engine: text('How it is executed.'),
    requires: text('Texts that every match contains.'),
    begins: text('Conditions at the start of a match, if it may span lines.').optional(),
    needles: z.array(z.string()).optional().meta({ description: 'Texts searched first.' }),
  })
  .meta({ id: 'RegexReport', description: 'Execution of a regular expression of the query.' });

const shardReport = z
  .object({
    id: text('Id of the shard.'),
    repository: text('Name of its repository.'),
    class: z.enum(['scanned', 'skipped_filter', 'skipped', 'crashed']),
    reason: text('Why it has this class, in words.'),
    docs: integer('Live files.'),
    estimatedBytes: integer('Estimated bytes read for verification.'),
    stats: z.object(statsShares).meta({
      id: 'ShardStats',
      description: 'Its share of the numbers that are split by shard.',
    }),
  })
  .meta({ id: 'ShardReport', description: 'Result of an eligible shard.' });

const bestDoc = z
  .object({
    repository: text('Name of its repository.'),
    fileName: text('Path of the file.'),
    score: integer('The sort key.'),
    parts: z
      .object({
        symbol: integer('For the symbol that the words cover best.'),
        name: integer('For the covered part of the base name.'),
        text: integer('For the number and quality of matches.'),
        near: integer('For the proximity of the words.'),
        tier: z.number().meta({
          description: 'Factor: less than 1 for tests, vendored and generated files.',
        }),
        path: integer('For the path, if the content has no range.'),
        leaves: integer('For the share of matching words.'),
      })
      .exactOptional()
      .meta({
        description: 'Parts of the score, rounded; absent if the file was not found again.',
      }),
  })
  .meta({ id: 'BestFile', description: 'One of the best files, with the reasons.' });

export type { ConditionNode };

export type ShardRow = z.infer<typeof shardReport>;

export const explanation = z
  .object({
    query: z.object({
      canonical: text('The parsed query.'),
      implicitRevision: text('The implied revision, if the query names none.').optional(),
    }),
    plan: z.object({
      conditions: conditionNode,
      regexps: z.array(regexReport),
      estimatedBytes: integer('Bytes to verify, as estimated by the index.'),
      verifiedBytes: integer('Bytes read for verification.'),
    }),
    totals: z.object({
      shardsEligible: integer('Shards with a file in scope.'),
      shardsOutOfScope: integer('Shards without.'),
      docsInScope: integer('Files in scope.'),
      bytesInScope: integer('Bytes of the searchable files of the default revisions in scope.'),
      ...statsNumbers,
    }),
    best: z.array(bestDoc).meta({ description: 'The first files of the answer, 10 at most.' }),
    shards: z.array(shardReport).optional().meta({ description: 'For owners only.' }),
    stats,
    ...exhaustiveness,
  })
  .meta({ id: 'Explanation', description: 'Plan and execution of a search.' });

export type Explanation = z.infer<typeof explanation>;
