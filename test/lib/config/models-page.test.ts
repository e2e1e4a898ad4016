import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { LOCAL_PORTS, PROVIDERS } from '#dev/stack/models/servers.ts';
import { MODEL_DIALECTS, readModelSources } from '#lib/config/index.ts';

const page = readFileSync(new URL('../../../docs/models.md', import.meta.url), 'utf8');
const folder = mkdtempSync(path.join(tmpdir(), 'ras-models-page-'));
afterAll(() => rmSync(folder, { recursive: true }));

const examples = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']) => {
  const file = path.join(folder, 'example.yaml');
  writeFileSync(file, yaml);
  const keys = [...yaml.matchAll(/apiKeyVariable: (\w+)/g)].map(([, name = '']) => [name, 'key']);
  return readModelSources({ ...Object.fromEntries(keys), GATEWAYS_FILE: file });
});
const sources = examples.flatMap((example) => example.sources);

test('every example of the page is one that API and worker can read', () => {
  expect(examples.map(({ faults }) => faults)).toEqual(examples.map(() => []));
});

test('every dialect has its entry, which is read as that dialect', () => {
  const known = MODEL_DIALECTS.filter((dialect) => dialect !== 'other');
  for (const dialect of known) {
    expect(sources.find(({ name }) => name === dialect)).toMatchObject({ name: dialect, dialect });
  }
});

test('the page names the addresses, variables and ports that a start looks at', () => {
  for (const { dialect, baseUrl, apiKeyVariable } of PROVIDERS) {
    expect(sources.find(({ name }) => name === dialect)).toMatchObject({ baseUrl, apiKey: 'key' });
    expect(page).toContain(`\`${apiKeyVariable}\``);
  }
  for (const { port } of LOCAL_PORTS) expect(page).toMatch(new RegExp(`\\b${port}\\b`));
});
