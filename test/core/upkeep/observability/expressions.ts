import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

interface Panel {
  readonly targets?: readonly { readonly expr: string }[];
  readonly panels?: readonly Panel[];
}

/** Returns the PromQL of every panel of the dashboard file. */
export async function dashboardExpressions(): Promise<string[]> {
  const file = await readFile('docs/grafana/routine-automation.json', 'utf8');
  const { panels } = JSON.parse(file) as { panels: readonly Panel[] };
  const of = ({ targets = [], panels = [] }: Panel): string[] => [
    ...targets.map(({ expr }) => expr),
    ...panels.flatMap(of),
  ];
  return panels.flatMap(of);
}

/** Returns the PromQL of every alerting rule. */
export async function alertExpressions(): Promise<string[]> {
  const { groups } = parse(await readFile('docs/prometheus-alerts.yml', 'utf8')) as {
    groups: { rules: { expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
}

/** Returns the names of metrics in an expression, with the suffixes of histograms. */
export function metricsIn(expression: string): string[] {
  return expression.match(/\b(?:ras|nodejs|process|temporal)_[a-z0-9_]+/g) ?? [];
}
