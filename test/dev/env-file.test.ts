import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readEnvFile } from '#dev/stack/env-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'ras-env-'));
const file = path.join(folder, '.env');
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string, env: NodeJS.ProcessEnv = {}) {
  writeFileSync(file, text);
  return readEnvFile(file, env);
}

test('the environment wins over the file, also with an empty variable', () => {
  const text = 'OPENAI_API_KEY=of-the-file\nPORT_OFFSET=100\nLOG_LEVEL=debug\n';
  expect(read(text, { OPENAI_API_KEY: 'of-the-shell', LOG_LEVEL: '' }).env).toEqual({
    OPENAI_API_KEY: 'of-the-shell',
    PORT_OFFSET: '100',
    LOG_LEVEL: '',
  });
});

test('the usual forms of such files are read', () => {
  const text = [
    '\uFEFF# a comment with = and "',
    'export PORT = 3100 # why',
    "GATEWAY_API_KEY='a # b'",
    'MAIL_FROM="Routines',
    '<a@example.com>"',
    '',
    "PRODUCT_TAG=it's",
    'SMTP_URL=',
  ].join('\r\n');
  expect(read(text)).toEqual({
    env: {
      PORT: '3100',
      GATEWAY_API_KEY: 'a # b',
      MAIL_FROM: 'Routines\n<a@example.com>',
      PRODUCT_TAG: "it's",
      SMTP_URL: '',
    },
    hints: [],
  });
});

test('every wrong line is named by its number, never by its content', () => {
  const text = 'PORT=3000\nOPENAI_API_KEY: sk-1\n\nMAIL_FROM="a\nb"\nsk-2\nSMTP_URL="sk-3\nLOG_LEVEL=info\n';
  expect(() => read(text)).toThrow(`${file}: lines 2, 6, 7 are wrong.`);
  expect(() => read(text)).not.toThrow(/sk-/);
  expect(() => read('PORT=3000\n8080\n')).toThrow('line 2 is wrong');
});

test('a name that is nearly known is hinted at, and others are let be', () => {
  const text = 'OPENAI_APIKEY=1\nPORT_OFSET=2\nMY_OWN=3\nCONNECTION_LINEAR_CLIENT_ID=4\nPORT=5\n';
  expect(read(text).hints).toEqual([
    '.env: OPENAI_APIKEY is not known; is OPENAI_API_KEY meant?',
    '.env: PORT_OFSET is not known; is PORT_OFFSET meant?',
  ]);
});

test('a folder without the file is a start like any other', () => {
  expect(readEnvFile(path.join(folder, 'none'), { A: '1' })).toEqual({
    env: { A: '1' },
    hints: [],
  });
});

test('the example, copied as it is, sets nothing', () => {
  const example = path.resolve(import.meta.dirname, '../../.env.example');
  expect(readEnvFile(example, {})).toEqual({ env: {}, hints: [] });
});
