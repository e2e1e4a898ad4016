/** Entry: `npm run build` bundles the workflow code into dist/, so that workers start without writing anything. */
import { buildWorkflowBundle } from './workflow-bundle.ts';

console.log(await buildWorkflowBundle());
