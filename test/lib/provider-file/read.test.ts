import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { describe, expect, test } from 'vitest';
import {
  allowedRequests,
  ProviderFileError,
  readProviderFile,
  valuesAt,
  type ProviderSlot,
} from '#lib/provider-file/index.ts';

const FOLDER = fileURLToPath(new URL('../../../docs/model-providers/', import.meta.url));
const examples = readdirSync(FOLDER);
const SLOT_OF = { device_code: 'provider-a', oauth: 'provider-b', api_key: 'provider-c' } as const;

type Draft = Record<string, Record<string, unknown>> & { name: string };

function example(name: string): Draft & Record<string, unknown> {
  return parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Draft;
}

function faultsOf(slot: ProviderSlot, content: unknown, termsAccepted = false): readonly string[] {
  try {
    readProviderFile(slot, Buffer.from(stringify(content)), { termsAccepted });
    return [];
  } catch (error) {
    if (error instanceof ProviderFileError) return error.faults;
    throw error;
  }
}

test('there are examples for every way of signing in', () => {
  expect(examples.toSorted()).toEqual([
    'anthropic-key.yaml',
    'hugging-face.yaml',
    'mistral-key.yaml',
    'openai-key.yaml',
    'openai-sign-in.yaml',
    'openrouter-key.yaml',
    'xai-key.yaml',
  ]);
});

test.each(examples)('the example %s loads, with its hash and without a client id', (name) => {
  const bytes = readFileSync(path.join(FOLDER, name));
  const slot = SLOT_OF[example(name)['auth']!['kind'] as keyof typeof SLOT_OF];
  const loaded = readProviderFile(slot, bytes, { termsAccepted: true });
  expect(loaded.hash).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(loaded.file.api.baseUrl).toMatch(/^https:/);
  expect(bytes.toString()).not.toMatch(/client_?id:/i);
});

test.each(examples)(
  'the terms of the vendor of %s have a row in the documentation, with the page that the file names',
  (name) => {
    const page = readFileSync(new URL('../../../docs/model-providers.md', import.meta.url), 'utf8');
    const file = example(name);
    const row = page.split('\n').find((line) => line.startsWith(`| ${file.name} |`));
    expect(row).toContain(`<${String(file['terms']!['page'])}>`);
  },
);

test.each(examples)('no list that anybody can read proves a credential of %s', (name) => {
  const { api, verify } = example(name);
  const baseUrl = verify!['baseUrl'] ?? api!['baseUrl'];
  expect(PUBLIC_LISTS).not.toContain(`${String(baseUrl)}${String(verify!['path'])}`);
});

const PUBLIC_LISTS = ['https://openrouter.ai/api/v1/models', 'https://router.huggingface.co/v1/models'];

test('a session may send the one request of the protocol, or what the file allows', () => {
  expect(allowedRequests({ protocol: 'anthropic-messages' })).toEqual([{ method: 'POST', path: '/messages' }]);
  const allow = [{ method: 'POST', path: '/v2/chat' }];
  expect(allowedRequests({ protocol: 'openai-chat', allow })).toEqual(allow);
});

describe('a file is refused', () => {
  test('with the path of every error at once', () => {
    const file = example('mistral-key.yaml');
    file['terms']!['thirdPartyUse'] = 'perhaps';
    file['api']!['baseUrl'] = 'http://api.mistral.ai/v1';
    file['api']!['headers'] = { 'user-agent': 'SomebodyElse/1.0', 'X-Upper': 'a' };
    file['api']!['allow'] = [{ method: 'POST', path: '/../admin' }];
    file['verify']!['path'] = '//elsewhere.example/models';
    file['limits'] = { words: [] };
    Object.assign(file, { concurrency: 0, extra: true });
    const places = faultsOf('provider-c', file).map((fault) => fault.split(': ')[0]);
    expect(new Set(places)).toEqual(
      new Set([
        'terms.thirdPartyUse',
        'api.baseUrl',
        'api.headers.user-agent',
        'api.headers.X-Upper',
        'api.allow.0.path',
        'verify.path',
        'limits',
        'concurrency',
        'file',
      ]),
    );
  });

  test('when a session could make no step with what it allows', () => {
    const file = example('xai-key.yaml');
    for (const allow of [[], [{ method: 'GET', path: '/models' }]]) {
      file['api']!['allow'] = allow;
      expect(faultsOf('provider-c', file)).toEqual(['api.allow: expected a POST']);
    }
  });

  test('for another slot than its way of signing in', () => {
    expect(faultsOf('provider-a', example('xai-key.yaml'))).toEqual([
      'auth.kind: expected device_code, which is how provider-a signs people in',
    ]);
  });

  test('when the terms forbid it, even if they were accepted', () => {
    const file = example('xai-key.yaml');
    file['terms']!['thirdPartyUse'] = 'forbidden';
    expect(faultsOf('provider-c', file, true)).toEqual([
      'terms.thirdPartyUse: the provider forbids this use, so it is not offered',
    ]);
  });

  test('when the terms need an agreement that was not stated', () => {
    const file = example('openai-sign-in.yaml');
    expect(faultsOf('provider-b', file)).toEqual([
      'terms.thirdPartyUse: needs an agreement with the provider, and MODEL_PROVIDER_B_TERMS_ACCEPTED=true',
    ]);
    expect(faultsOf('provider-b', file, true)).toEqual([]);
  });

  test('when it says that its models accept schemas, in a protocol that closes them', () => {
    for (const structuredOutputs of [true, ['model-large']]) {
      const file = example('anthropic-key.yaml');
      file['api']!['options'] = { structuredOutputs };
      expect(faultsOf('provider-c', file)).toEqual([
        expect.stringMatching(/^api\.options\.structuredOutputs: this protocol takes only a part/),
      ]);
      const other = example('mistral-key.yaml');
      other['api']!['options'] = { structuredOutputs };
      expect(faultsOf('provider-c', other)).toEqual([]);
    }
  });

  test('when what it says of schemas is neither a switch nor a list of models', () => {
    const file = example('mistral-key.yaml');
    for (const structuredOutputs of ['model-large', [], [7], null]) {
      file['api']!['options'] = { structuredOutputs };
      expect(faultsOf('provider-c', file)).toEqual([
        'api.options.structuredOutputs: expected true, false or a list of model ids',
      ]);
    }
  });

  test('when it names a client', () => {
    const file = example('hugging-face.yaml');
    file['auth']!['extraDeviceParameters'] = { client_id: 'another-client' };
    expect(faultsOf('provider-a', file)).toEqual([
      expect.stringMatching(/^auth\.extraDeviceParameters: .*MODEL_PROVIDER_<X>_CLIENT_ID/),
    ]);
  });

  test('when neither an issuer nor the endpoints are there', () => {
    const file = example('hugging-face.yaml');
    delete file['auth']!['issuer'];
    expect(faultsOf('provider-a', file)).toEqual(['auth.tokenEndpoint: required without an issuer']);
  });

  test('when it is no YAML, or no text', () => {
    for (const bytes of [Buffer.from('a: [1'), Buffer.from([0xff, 0xfe])]) {
      expect(() => readProviderFile('provider-a', bytes, { termsAccepted: false })).toThrow(
        /^MODEL_PROVIDER_A_FILE: file: not readable as YAML/,
      );
    }
  });
});

test('a place in a response reads fields, elements and the whole', () => {
  const answer = { data: [{ id: 'a' }, { id: 'b' }, {}], error: { resets_at: 5 } };
  expect(valuesAt(answer, 'data.*.id')).toEqual(['a', 'b']);
  expect(valuesAt(answer, 'error.resets_at')).toEqual([5]);
  expect(valuesAt(answer, '')).toEqual([answer]);
  expect(valuesAt({ a: [{ b: [1, 2] }, { c: 0 }, { b: [3] }] }, 'a.*.b.*')).toEqual([1, 2, 3]);
  expect(valuesAt(answer, 'error.constructor.name')).toEqual([]);
});
