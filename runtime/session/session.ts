/** Entry of a model session: reads one job from standard input, writes one result to standard output, and ends. */
import { text } from 'node:stream/consumers';
import { parseExact } from '#lib/exact-json/parse.ts';
import type { Protocol } from '#lib/provider-file/protocols.ts';
import { brokerFetch } from './broker-fetch.ts';
import type { SessionJob } from './model.ts';
import { runStep } from './step.ts';
import { warmUp } from './warm-up.ts';

const [socketPath = '', ...protocols] = process.argv.slice(2);
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runtime names them, from provider files that it has read
await warmUp(protocols as Protocol[], socketPath);
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runtime wrote it, and nothing else can write to a session
const job = parseExact(await text(process.stdin)) as SessionJob;
const { path, options } = job;
const answer = await runStep(job, brokerFetch({ socketPath, path, omit: options.omit }));
process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit());
