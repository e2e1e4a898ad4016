import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { isSecret, loadConfig, variables, type Role } from '#lib/config/index.ts';
import { dclint, helm, kubernetesValidate, type Tool } from './tools.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const CHART = path.join(ROOT, 'chart');
/** Releases of Kubernetes that the chart supports. */
const RELEASES = ['1.32.0', '1.33.0', '1.34.0'] as const;
const KUBERNETES = RELEASES[2];
const SETS = ['small', 'large', 'existing'] as const;
const ROLES: Record<string, Role> = {
  'migrations/run.ts': 'migrate',
  'api/server.ts': 'api',
  'workers/main.ts': 'worker',
  'ui/server.ts': 'ui',
  'runtime/server.ts': 'runtime',
};

const container = z.object({
  image: z.string(),
  args: z.tuple([z.string()]),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  securityContext: z.unknown(),
});
const pod = z.object({
  automountServiceAccountToken: z.literal(false),
  securityContext: z.object({ runAsNonRoot: z.literal(true), seccompProfile: z.unknown() }),
  terminationGracePeriodSeconds: z.number().optional(),
  initContainers: z.array(container).default([]),
  containers: z.array(container).length(1),
  volumes: z
    .array(z.object({ secret: z.object({ items: z.array(z.object({ path: z.string() })) }).optional() }))
    .default([]),
});
const resource = z.object({
  kind: z.string(),
  apiVersion: z.string(),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({ template: z.object({ spec: pod }).optional() }),
});
type Resource = z.infer<typeof resource>;

const folder = mkdtempSync(path.join(tmpdir(), 'ras-chart-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [withHelm, withValidate] = await Promise.all([helm(), kubernetesValidate()]);
for (const missing of [withHelm, withValidate]) {
  if (typeof missing === 'string') console.warn(`The chart is not checked: ${missing}.`);
}

const rendered = new Map<string, { text: string; resources: Resource[] }>();

async function render(set: string, ...args: string[]): Promise<string> {
  const values = ['--values', path.join(CHART, 'ci', `${set}.yaml`)];
  const all = ['template', 'r', CHART, '--kube-version', KUBERNETES, '--namespace', 'routines'];
  return (withHelm as Tool)([...all, ...values, ...args]);
}

test('compose.yaml is clean for dclint', async () => {
  const settings = path.join(ROOT, 'test/chart/dclint.yaml');
  expect((await (await dclint())(['-c', settings, path.join(ROOT, 'compose.yaml')])).trim()).toBe('');
});

test.runIf(typeof withHelm !== 'string').each(SETS)('helm lints the chart with values: %s', async (set) => {
  const values = path.join(CHART, 'ci', `${set}.yaml`);
  const args = ['lint', '--strict', '--kube-version', KUBERNETES, CHART, '--values', values];
  expect(await (withHelm as Tool)(args)).toContain('1 chart(s) linted, 0 chart(s) failed');
});

beforeAll(async () => {
  if (typeof withHelm === 'string') return;
  for (const set of SETS) {
    const text = await render(set);
    const documents = parseAllDocuments(text).map((each) => each.toJS() as unknown);
    const resources = documents.filter((each) => each !== null).map((each) => resource.parse(each));
    rendered.set(set, { text, resources });
  }
});

test
  .runIf(typeof withHelm !== 'string' && typeof withValidate !== 'string')
  .each(SETS.flatMap((set) => RELEASES.map((release) => [set, release] as const)))(
  'what it makes is valid for Kubernetes, strictly: %s, %s',
  async (set, release) => {
    // If an option is repeated, its last value counts.
    const text = await render(set, '--kube-version', release);
    const own = text.split(/^---$/m).filter((each) => !/^apiVersion: (monitoring|keda)\./m.test(each));
    const file = path.join(folder, `${set}-${release}.yaml`);
    writeFileSync(file, own.join('---'));
    const report = await (withValidate as Tool)(['--strict', '--kubernetes-version', release, file]);
    expect(report.match(/^INFO.*passed/gm) ?? []).toHaveLength(own.filter((each) => each.includes('kind:')).length);
  },
);

test.runIf(typeof withHelm !== 'string').each(SETS)(
  'every pod is restricted, and what it is given is its configuration: %s',
  (set) => {
    const { resources } = rendered.get(set)!;
    const pods = resources.flatMap(({ spec, metadata: { name } }) => {
      return spec.template === undefined ? [] : [{ name, ...spec.template.spec }];
    });
    expect(pods.length).toBeGreaterThan(2);
    for (const { name, initContainers, containers, securityContext, volumes, terminationGracePeriodSeconds } of pods) {
      const isRuntime = name === 'r-runtime';
      expect([name, securityContext.seccompProfile]).toMatchObject([
        name,
        { type: isRuntime ? 'Localhost' : 'RuntimeDefault' },
      ]);
      if (!name.endsWith('migrations')) expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(45);
      const files = volumes.flatMap(({ secret }) => secret?.items.map((item) => item.path) ?? []);
      for (const each of [...initContainers, ...containers]) {
        expect(each.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(loadConfig(ROLES[each.args[0]]!, environmentOf(each, files))).toMatchObject({
          NODE_ENV: 'production',
        });
      }
    }
  },
);

test.runIf(typeof withHelm !== 'string')('pods reach a resolver on their node, and no credentials of the cloud', () => {
  const policies = rendered.get('small')!.resources.filter(({ kind }) => kind === 'NetworkPolicy');
  expect(policies.length).toBeGreaterThan(0);
  for (const { spec } of policies) {
    const egress = z
      .array(z.object({ to: z.array(z.object({ ipBlock: z.unknown().optional() })), ports: z.unknown().optional() }))
      .parse(spec['egress']);
    expect(egress).toMatchObject([
      { to: expect.arrayContaining([{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } }]) },
      {
        to: [{ ipBlock: { cidr: '169.254.20.10/32' } }],
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      },
    ]);
  }
});

test.runIf(typeof withHelm !== 'string')('a build that drains keeps its own image', () => {
  const images = rendered
    .get('large')!
    .resources.flatMap(({ metadata: { name }, spec }) =>
      name.startsWith('r-worker') && spec.template !== undefined
        ? [[name, spec.template.spec.containers[0]?.image]]
        : [],
    );
  expect(images).toEqual([
    ['r-worker-2026-11-25-1', expect.stringMatching(/^registry\.example\.com\/routines@sha256:/)],
    ['r-worker-2026-11-24-3', 'registry.example.com/routines:0.1.0-3'],
  ]);
});

test.runIf(typeof withHelm !== 'string')(
  'workers follow the oldest run that waits, and the alerts are those of the docs',
  () => {
    const named = (set: string, kind: string) => rendered.get(set)!.resources.find((each) => each.kind === kind)?.spec;
    expect(JSON.stringify(named('large', 'ScaledObject'))).toContain('ras_queue_oldest_seconds');
    expect(named('large', 'ScaledObject')).toMatchObject({
      scaleTargetRef: { name: 'r-worker-2026-11-25-1' },
    });
    expect(JSON.stringify(named('existing', 'HorizontalPodAutoscaler'))).toContain('ras_queue_oldest_seconds');
    const alerts = readFileSync(path.join(ROOT, 'docs/prometheus-alerts.yml'), 'utf8');
    expect(named('large', 'PrometheusRule')).toEqual(parse(alerts));
  },
);

test.runIf(typeof withHelm !== 'string').each([
  ['no secret', '--set', 'secrets.existingSecret='],
  ['an origin in clear', '--set', 'env.PUBLIC_URL=http://api.example.com'],
  ['an image called latest', '--set', 'image.tag=latest'],
  ['a value that is not known', '--set', 'workers.replicas=2'],
  ['KEDA without Prometheus', '--set', 'worker.autoscaling.kind=keda'],
  ['a runtime without certificates', '--set', 'runtime.enabled=true'],
])('values are refused with %s', async (_, ...args) => {
  await expect(render('small', ...args)).rejects.toThrow(/values don't meet the specifications of the schema/);
});

/** Returns the environment of a container, with local files in place of the cluster's. */
function environmentOf({ env }: z.infer<typeof container>, given: readonly string[]) {
  return Object.fromEntries(
    env.map(({ name, value }) => {
      expect([name, name in variables || isSecret(name.replace(/_FILE$/, ''))]).toEqual([name, true]);
      if (!value.startsWith('/run/secrets/')) return [name, value];
      const key = path.basename(value);
      expect(given).toContain(key);
      const file = path.join(folder, key);
      writeFileSync(file, `${sample(key)}\n`, { mode: 0o600 });
      return [name, file];
    }),
  );
}

function sample(key: string): string {
  if (key === 'database-url') return 'postgres://ras:password@db.example.com/ras?sslmode=verify-full';
  if (key === 'smtp-url') return 'smtps://user:password@smtp.example.com:465';
  return Buffer.alloc(32, key).toString('base64');
}
