import { readFile } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { watchBacklog, watchFeed, watchPool } from '#core/upkeep/observability/index.ts';
import { openDatabase } from '#lib/database/index.ts';
import { createMetrics } from '#lib/metrics/index.ts';
import { createRuntimeMetrics } from '#runtime/metrics.ts';
import { alertExpressions, dashboardExpressions, metricsIn } from './expressions.ts';

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

/** Returns the metrics of all processes by name, each with its type and its possible labels. */
async function families(): Promise<Map<string, { type: string; labels: string[] }>> {
  const { registry } = createMetrics();
  const database = openDatabase({
    url: 'postgres://127.0.0.1:9/x',
    poolSize: 1,
    applicationName: '',
  });
  watchPool(registry, database);
  watchBacklog(registry, database, { retention: { contentDays: 90, runDays: 400 }, kinds: [] });
  watchFeed(registry, { streams: () => 0 });
  return new Map(
    [registry, createRuntimeMetrics(() => 0).registry].flatMap(metricsOf).map((metric) => {
      const {
        name,
        type,
        labelNames = [],
      } = metric as unknown as {
        name: string;
        type: string;
        labelNames?: string[];
      };
      return [name, { type, labels: labelNames }];
    }),
  );
}

function metricsOf(registry: Registry) {
  return registry.getMetricsAsArray();
}

/** Returns the metric that a name belongs to: `a_bucket`, `a_sum` and `a_count` belong to the histogram `a`. */
function familyOf(name: string) {
  return name.replace(/_(bucket|sum|count)$/, '');
}

test('every metric that the dashboard and the alerts ask for exists, with the suffixes of its type', async () => {
  const known = await families();
  const asked = [...(await dashboardExpressions()), ...(await alertExpressions())].flatMap(metricsIn);
  const ours = [...new Set(asked)].filter((name) => name.startsWith('ras_'));
  expect(ours.length).toBeGreaterThan(15);
  const missing = ours.filter((name) => {
    const type = known.get(familyOf(name))?.type;
    return familyOf(name) === name ? type === undefined || type === 'histogram' : type !== 'histogram';
  });
  expect(missing).toEqual([]);
});

test('every metric of ours is on the dashboard', async () => {
  const shown = new Set((await dashboardExpressions()).flatMap(metricsIn).map(familyOf));
  expect([...(await families()).keys()].filter((name) => !shown.has(name))).toEqual([]);
});

test('every metric of work that is not done has an alert', async () => {
  const watched = new Set((await alertExpressions()).flatMap(metricsIn).map(familyOf));
  // These metrics only state amounts of work. Faults are visible in other metrics.
  const onlyShown = new Set([
    'ras_event_streams',
    'ras_model_tokens_total',
    'ras_payment_events_total',
    'ras_runtime_call_duration_seconds',
    'ras_runtime_calls_under_way',
    'ras_scheduler_occurrences_claimed_total',
    'ras_scheduler_occurrences_skipped_total',
    'ras_tool_call_duration_seconds',
    'ras_webhook_attempts_total',
    'ras_webhook_attempt_duration_seconds',
  ]);
  const unwatched = [...(await families()).keys()].filter((name) => !watched.has(name));
  expect(new Set(unwatched)).toEqual(onlyShown);
});

test('expressions group and select by labels that the metrics have', async () => {
  const known = await families();
  const everywhere = ['le', 'instance', 'job', 'task_queue', 'worker_type'];
  for (const expression of [...(await dashboardExpressions()), ...(await alertExpressions())]) {
    const metrics = metricsIn(expression).filter((name) => name.startsWith('ras_'));
    if (metrics.length === 0) continue;
    const labels = new Set([...everywhere, ...metrics.flatMap((name) => known.get(familyOf(name))?.labels ?? [])]);
    const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/, */));
    const selected = [...expression.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, name]) => name!);
    expect([...grouped, ...selected].filter((label) => !labels.has(label))).toEqual([]);
  }
});

test('every alert says what is wrong, how bad it is, and leads to a section of the handbook', async () => {
  const sections: Record<string, ReadonlySet<string>> = {
    'monitoring.md': await anchorsOf('docs/monitoring.md'),
    'deployment.md': await anchorsOf('docs/deployment.md'),
    'billing.md': await anchorsOf('docs/billing.md'),
  };
  const { groups } = parse(await readFile('docs/prometheus-alerts.yml', 'utf8')) as {
    groups: { rules: Rule[] }[];
  };
  const rules = groups.flatMap(({ rules }) => rules);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect({ alert, severity: labels.severity, summary: annotations.summary }).toEqual({
      alert,
      severity: expect.stringMatching(/^(critical|warning)$/),
      summary: expect.stringMatching(/\.$/),
    });
    const [file = '', anchor = ''] = annotations.runbook_url.split('#');
    expect({ alert, known: sections[file]?.has(anchor) }).toEqual({ alert, known: true });
  }
});

/** Returns the anchors of a page's sections. */
async function anchorsOf(page: string): Promise<ReadonlySet<string>> {
  const titles = [...(await readFile(page, 'utf8')).matchAll(/^#+ (.+)$/gm)];
  const anchors = titles.map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return new Set(anchors);
}
