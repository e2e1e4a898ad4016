import { z } from 'zod';
import { RUN_STATES, TRIGGERS } from '#core/runs/index.ts';
import { EXAMPLE, idOf, pageQuery } from '../../http/schemas.ts';
import { outcomes } from './outcome-schema.ts';

export const runQuery = pageQuery('run', {
  state: z.enum(RUN_STATES).optional().meta({ description: 'Only those in this state.' }),
  trigger: z.enum(TRIGGERS).optional().meta({ description: 'Only those started so.' }),
  outcome: outcomes.optional().meta({ description: 'Only those that succeeded and came to this.' }),
  backfillId: idOf('backfill', EXAMPLE.backfill)
    .optional()
    .meta({ description: 'Only those of this backfill.', example: EXAMPLE.backfill }),
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Created at or after this time.' }),
  until: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Created before this time.' }),
});

export const runParams = z.strictObject({ runId: idOf('run', EXAMPLE.run) });
