import { z } from 'zod';
import { NEEDS } from './needs.ts';

/** Intervals at which a skill, or the small check of a one-off skill, can be scheduled. */
export const SCHEDULED = ['daily', 'weekly', 'monthly', 'quarterly'] as const;
export const CADENCES = [...SCHEDULED, 'on-demand'] as const;
type Scheduled = (typeof SCHEDULED)[number];

/** Suggested schedules: at seven in the morning of the routine's time zone, weekly schedules on Mondays. */
export const SUGGESTED_SCHEDULES: Readonly<Record<Scheduled, string>> = {
  daily: '0 7 * * *',
  weekly: '0 7 * * 1',
  monthly: '0 7 1 * *',
  quarterly: '0 7 1 1,4,7,10 *',
};

/**
 * Returns the schedule to suggest for a skill. One-off work gets the schedule of its check, or null without a check.
 */
export function suggestedSchedule({ cadence, check }: Cadences): string | null {
  const scheduled = cadence === 'on-demand' ? check : cadence;
  return scheduled === null ? null : SUGGESTED_SCHEDULES[scheduled];
}

interface Cadences {
  readonly cadence: (typeof CADENCES)[number];
  readonly check: Scheduled | null;
}

const source = z.strictObject({
  name: z.string().min(1),
  url: z.url({ protocol: /^https$/ }),
  backs: z.string().min(1),
});

export const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export const frontMatter = z
  .strictObject({
    name: z.string().min(1).max(80),
    description: z.string().min(20).max(300),
    category: z.string().regex(/^[a-z]+(-[a-z]+)*$/, 'kebab-case'),
    version: z.string().regex(/^\d+\.\d+\.\d+$/, 'a version like 1.0.0'),
    /** Abilities that the routine's tools should offer; empty for a skill that needs no tools. */
    needs: z.array(z.enum(NEEDS)),
    cadence: z.enum(CADENCES),
    /** Interval at which the small check of a one-off skill is worth a run; null without a check. */
    check: z.enum(SCHEDULED).nullable().default(null),
    /** Slugs of skills that were folded into this skill. Routines that name such a slug use this skill. */
    formerly: z.array(z.string().regex(SLUG)).default([]),
    /** Day on which a person last checked the text against its sources. */
    checked: z.iso.date(),
    sources: z.array(source).min(1),
  })
  .refine(({ cadence, check }) => cadence === 'on-demand' || check === null, {
    path: ['check'],
    message: 'belongs to the cadence on-demand only',
  });
