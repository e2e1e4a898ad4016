import { COMPETITOR_WATCH } from './competitor-watch.ts';
import { CONTENT_PLAN } from './content-plan.ts';
import { SITE_CHECK } from './site-check.ts';
import type { DemoRoutine } from './written.ts';

/** The routines of the demo in the order of their creation. Lists of the dashboard show the last routine first. */
export const DEMO_ROUTINES: readonly DemoRoutine[] = [CONTENT_PLAN, COMPETITOR_WATCH, SITE_CHECK];

export { SITE_CHECK };
