import path from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import LongestFirst from './test/support/longest-first.ts';
import { TIMES } from './test/support/properties.ts';

// Each project has processes of its own, and many start more: all would compile the same modules again.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, 'node_modules/.cache/compiled');

/** Pure: no service, no database, no process. A file that asks for one fails here. */
const UNIT = [
  'test/{calculate,config,envelope,exact-json,linear-pattern,provider-file}/**',
  'test/assistants/{fences,tools}.test.ts',
  'test/connections/odd/refreshes.test.ts',
  'test/digest/times.test.ts',
  'test/cli/{completion,device,documented,mcp,output}.test.ts',
  'test/cli/files/{document,faults,import}.test.ts',
  'test/contract/{agreement,coverage,endpoints,generators}.test.ts',
  'test/gate/rules.test.ts',
  'test/house/**',
  'test/http/{body-turns,plain-words}.test.ts',
  'test/identity/{client-address,coalesce}.test.ts',
  'test/mcp/{address-secrets,json-limit,lost-session,refusals}.test.ts',
  'test/model-connections/account-label.test.ts',
  'test/notifications/links.test.ts',
  'test/observability/dashboard.test.ts',
  'test/outbound/{addresses,fetch,interim,limits,lookup,rebinding,redirects,retry-after,tls,urls}.test.ts',
  'test/results/{changes,json-pointer}.test.ts',
  'test/runs/{account-empty,briefing,event-frames,finish-words,gateway-fetch,judge,lesson,model-call,model-retry,run-ids,thinking}.test.ts',
  'test/scheduling/{schedule-oracle,schedule,timetable,words}.test.ts',
  'test/sdk/{calls,follow,operations,pages,webhooks}.test.ts',
  'test/secrets/secret-box.test.ts',
  'test/skills/{catalogue,eval-cases,needs,state-block}.test.ts',
  'test/tools/{decide-call,read-schema}.test.ts',
  'test/ui/{api-types,comparing,diff-lines,document,errors,follow,placeholders,run-words,typed-data}.test.ts',
  'test/webhooks/{event,retry,signature}.test.ts',
];

/** The dashboard in a real browser. */
const BROWSER = ['test/ui/**'];

/** What would stay changed in its process, as a global, a registry or a variable: each file has its own. */
const ALONE = [
  'test/dev/{children,gateway,model-accounts,temporal-binary,temporal-server}.test.ts',
  'test/faults/chaos.test.ts',
  'test/observability/{log,metrics,tracing}.test.ts',
  'test/secrets/{canary,model-accounts}.test.ts',
  'test/skills/eval-harness.test.ts',
];

/** Kills, deploys, builds and whole processes. */
const PROCESS = [
  'test/{deploys,dev,faults,runtime,workers}/**',
  'test/billing/{commands,kills}.test.ts',
  'test/cli/binary.test.ts',
  'test/contract/openapi.test.ts',
  'test/http/postgres-away.test.ts',
  'test/outbound/mcp.test.ts',
  'test/secrets/{rotation,wrong-key}.test.ts',
  'test/tools/killed-{calls,worker}.test.ts',
  'test/ui/bundle.test.ts',
];

/** Tests that need other people's servers, build the image or fetch linters; they have configurations of their own. */
const REAL = ['test/real/**', 'test/image/**', 'test/chart/**'];

/** All other files, which share a service in each of the processes that they are run in. */
const SERVICE = ['test/**'];

const WITH_SERVERS = { globalSetup: ['test/support/global-setup.ts'] };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/durations.ts'],
    projects: [
      project('unit', UNIT, [], { isolate: false }),
      project('browser', BROWSER, [...UNIT, ...PROCESS], {
        isolate: false,
        // Each has a browser of several processes: five at a time take a tenth longer, and the slowest of them six times.
        maxWorkers: 3,
        sequence: { groupOrder: 1 },
        ...WITH_SERVERS,
      }),
      project('process', PROCESS, ALONE, { isolate: false, ...WITH_SERVERS }),
      project('alone', ALONE, [], WITH_SERVERS),
      project('service', SERVICE, [...UNIT, ...BROWSER, ...PROCESS, ...ALONE, ...REAL], {
        isolate: false,
        ...WITH_SERVERS,
      }),
    ],
  },
});

type Settings = NonNullable<TestProjectInlineConfiguration['test']>;

function project(
  name: string,
  files: readonly string[],
  exclude: readonly string[],
  settings: Settings,
): TestProjectInlineConfiguration {
  const tests = (pattern: string) => (pattern.endsWith('.ts') ? pattern : `${pattern}/*.test.ts`);
  return {
    // The CLI imports the SDK by its name, as those who install it do; here without a build.
    resolve: {
      alias: { 'routine-automation-sdk': path.join(import.meta.dirname, 'sdk/src/index.ts') },
    },
    test: {
      name,
      include: files.map(tests),
      exclude: exclude.map(tests),
      setupFiles: ['test/support/properties.ts', 'test/support/midnight.ts'],
      pool: 'forks',
      // Many files wait for a server or a clock; five at a time are no faster on two cores.
      maxWorkers: 4,
      // Only what hangs takes so long. No test measures time, and a busy machine is four times slower than an idle one.
      testTimeout: 120_000 * TIMES,
      hookTimeout: 180_000,
      expect: { poll: { timeout: 60_000 } },
      env: { NODE_ENV: 'test' },
      ...settings,
    },
  };
}
