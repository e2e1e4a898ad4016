import path from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import LongestFirst from './test/support/longest-first.ts';
import { FULL_SIZE, PATIENCE_MS, TIMES } from './test/support/properties.ts';

// Each project has processes of its own, and many start more: all would compile the same modules again.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, 'node_modules/.cache/compiled');

/** Pure: no service, no database, no process. A file that asks for one fails here. */
const UNIT = [
  'test/api/http/{body-turns,client-address,event-frames,plain-words}.test.ts',
  'test/api/mcp/{fences,tools}.test.ts',
  'test/cli/{completion,device,documented,mcp,output}.test.ts',
  'test/cli/files/{document,faults,import}.test.ts',
  'test/contract/{agreement,coverage,endpoints,generators}.test.ts',
  'test/core/authoring/drafts/response.test.ts',
  'test/core/authoring/outcomes/{changes,judge}.test.ts',
  'test/core/authoring/skills/{catalogue,eval-cases,needs,state-block}.test.ts',
  'test/core/clients/calculate/**',
  'test/core/clients/chats/**',
  'test/core/clients/gateway/**',
  'test/core/clients/json-schemas/{read-schema,sample}.test.ts',
  'test/core/clients/mcp/{address-secrets,json-limit,lost-session,refusals}.test.ts',
  'test/core/delivery/notifications/links.test.ts',
  'test/core/delivery/webhooks/{event,retry,signature}.test.ts',
  'test/core/execution/gate/rules.test.ts',
  'test/core/execution/prompt/briefing.test.ts',
  'test/core/execution/steps/{model-call,model-retry,odd-responses}.test.ts',
  'test/core/foundation/timetable/**',
  'test/core/integrations/connections/odd/refreshes.test.ts',
  'test/core/integrations/tools/{judge-call,odd-lists}.test.ts',
  'test/core/models/connections/account-label.test.ts',
  'test/core/upkeep/digests/times.test.ts',
  'test/core/upkeep/observability/dashboard.test.ts',
  'test/dev/house/**',
  'test/lib/{coalesce,json-pointer,linear-pattern,mail,run-ids}.test.ts',
  'test/lib/config/**',
  'test/lib/database/clock.test.ts',
  'test/lib/envelope/**',
  'test/lib/exact-json/**',
  'test/lib/outbound/{addresses,fetch,interim,limits,lookup,rebinding,redirects,retry-after,tls,urls}.test.ts',
  'test/lib/provider-file/**',
  'test/lib/schedule/**',
  'test/lib/secrets/secret-box.test.ts',
  'test/sdk/{calls,follow,operations,pages,webhooks}.test.ts',
  'test/ui/{api-types,choices,comparing,days,diff-lines,differences,document,errors,follow,numbers,held-calls}.test.ts',
  'test/ui/{placeholders,run-words,typed-data}.test.ts',
];

/** Pages in given states, in a real browser before a fake API. */
const PAGES = ['test/ui/states/**'];

/** Ways through the dashboard in a real browser before the service. */
const BROWSER = ['test/ui/**'];

/**
 * Files that come at full size only; docs/testing.md names what holds their promises on each change. The pages of a way
 * through the dashboard are held by `pages`, and what it asks of the service by the tests of the service.
 */
const NIGHTLY = [
  'test/core/execution/{actions/odd-decisions,admission/plans}.test.ts',
  'test/core/execution/{results/results-plans,runs/list-plans,steps/young-plans}.test.ts',
  'test/deploys/two-builds.test.ts',
  'test/dev/watch.test.ts',
  'test/faults/{action-kill,chaos,proposal-kill}.test.ts',
  'test/ui/{api-keys,billing,brief,demo,draft,facts,home,inbox,model-accounts,models,paste-sign-in}.test.ts',
  'test/ui/{proposals,routines,run-sections,runs,settings,skills,translated,verbs}.test.ts',
];

/** What would stay changed in its process, as a global, a registry or a variable: each file has its own. */
const ALONE = [
  'test/core/authoring/skills/eval-harness.test.ts',
  'test/core/upkeep/observability/metrics.test.ts',
  'test/dev/{children,gateway,model-accounts,temporal-binary,temporal-server}.test.ts',
  'test/faults/chaos.test.ts',
  'test/faults/canary/**',
  'test/lib/{log,tracing}.test.ts',
];

/** Kills, deploys, builds and whole processes. */
const PROCESS = [
  'test/api/http/postgres-away.test.ts',
  'test/cli/binary.test.ts',
  'test/contract/openapi.test.ts',
  'test/core/accounts/billing/{commands,kills}.test.ts',
  'test/core/integrations/tools/killed-calls.test.ts',
  'test/deploys/**',
  'test/{dev,faults}/**',
  'test/lib/outbound/mcp.test.ts',
  'test/lib/secrets/{rotation,wrong-key}.test.ts',
  'test/runtime/**',
  'test/ui/bundle.test.ts',
  'test/workers/**',
];

/** Tests that need other people's servers, build the image or fetch linters; they have configurations of their own. */
const REAL = ['test/real/**', 'test/image/**', 'test/chart/**'];

/** All other files, which share a service in each of the processes that they are run in. */
const SERVICE = ['test/**'];

const WITH_BROWSER = {
  isolate: false,
  // Each has a browser of several processes: five at a time take a tenth longer, and the slowest of them six times.
  maxWorkers: 3,
  sequence: { groupOrder: 1 },
};

const WITH_SERVERS = { globalSetup: ['test/support/global-setup.ts'] };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/durations.ts'],
    projects: [
      project('unit', UNIT, [], { isolate: false }),
      project('pages', PAGES, [], WITH_BROWSER),
      project('browser', BROWSER, [...UNIT, ...PROCESS, ...PAGES], {
        ...WITH_BROWSER,
        ...WITH_SERVERS,
      }),
      project('process', PROCESS, [...UNIT, ...ALONE], { isolate: false, ...WITH_SERVERS }),
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
      exclude: [...exclude, ...(FULL_SIZE ? [] : NIGHTLY)].map(tests),
      setupFiles: ['test/support/properties.ts', 'test/support/midnight.ts'],
      pool: 'forks',
      // Collecting garbage takes a twentieth of the processor time of a run with Node's small young generation.
      execArgv: ['--max-semi-space-size=64'],
      // Many files wait for a server or a clock; five at a time are no faster on two cores.
      maxWorkers: 4,
      testTimeout: 2 * PATIENCE_MS * TIMES,
      hookTimeout: 2 * PATIENCE_MS,
      expect: { poll: { timeout: PATIENCE_MS } },
      env: { NODE_ENV: 'test' },
      ...settings,
    },
  };
}
