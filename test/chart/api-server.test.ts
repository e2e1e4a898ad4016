import { readFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';
import { helm } from './tools.ts';

/**
 * Applies the chart's resources to a Kubernetes API server, which fills in defaults, validates with all of its rules,
 * and warns of pods that are not restricted. No kubelet is needed. `KUBE_API` is the server's address, `KUBE_TOKEN` an
 * administrator's token, `KUBE_CA` the file of the server's certificate.
 */
const { KUBE_API: api, KUBE_TOKEN: token, KUBE_CA: ca } = process.env;
const CHART = path.join(import.meta.dirname, '../../chart');
/** Returns a namespace for each set of values: a job of migrations cannot be changed, and helm deletes the old one. */
function namespaceOf(set: string): string {
  return `chart-${set}-${process.pid}`;
}

const object = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const resources = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

interface Answer {
  readonly status: number;
  readonly warning: string | undefined;
  readonly body: string;
}

async function call(method: string, at: string, body?: string): Promise<Answer> {
  const type = body === undefined ? {} : { 'Content-Type': 'application/apply-patch+yaml' };
  const headers = { Authorization: `Bearer ${token}`, ...type };
  const options = { method, headers, ca: ca === undefined ? undefined : readFileSync(ca) };
  return new Promise((resolve, reject) => {
    const request = https.request(new URL(at, api), options, (response) => {
      const { statusCode: status = 0, headers: given } = response;
      const warning = given['warning'];
      text(response).then((all) => resolve({ status, warning, body: all }), reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function apply(value: z.infer<typeof object>, namespace: string): Promise<Answer> {
  const { apiVersion, kind, metadata } = value;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const known = resources.parse(JSON.parse((await call('GET', root)).body)).resources;
  const { name: plural, namespaced } = known.find((each) => each.kind === kind && !each.name.includes('/'))!;
  const place = namespaced ? `${root}/namespaces/${namespace}` : root;
  return call('PATCH', `${place}/${plural}/${metadata.name}?fieldManager=chart`, stringify(value));
}

async function rendered(set: string, release: string) {
  const run = await helm();
  if (typeof run === 'string') throw new Error(run);
  const values = path.join(CHART, 'ci', `${set}.yaml`);
  const all = await run([
    'template',
    'r',
    CHART,
    '--namespace',
    namespaceOf(set),
    '--kube-version',
    release,
    '--values',
    values,
  ]);
  const found = parseAllDocuments(all).map((each) => each.toJS() as unknown);
  return found
    .filter((each) => each !== null)
    .map((each) => object.parse(each))
    .filter(({ apiVersion }) => !/^(?:monitoring|keda)\./.test(apiVersion));
}

test.runIf(api !== undefined).each(['small', 'large', 'existing'])(
  'an API server of Kubernetes takes what the chart makes, twice and without a warning: %s',
  async (set) => {
    const { gitVersion } = z.object({ gitVersion: z.string() }).parse(JSON.parse((await call('GET', '/version')).body));
    const labels = Object.fromEntries(
      ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
    );
    const name = namespaceOf(set);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
    expect([200, 201]).toContain((await apply(namespace, name)).status);
    const objects = await rendered(set, gitVersion);
    expect(objects.length).toBeGreaterThan(8);
    for (const each of objects) {
      const named = `${each.kind} ${each.metadata.name}`;
      const { status, warning, body } = await apply(each, name);
      expect([named, status === 200 || status === 201 ? '' : body, warning]).toEqual([named, '', undefined]);
      expect((await apply(each, name)).status).toBe(200);
    }
  },
);
