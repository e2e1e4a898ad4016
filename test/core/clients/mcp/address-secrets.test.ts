import { expect, test } from 'vitest';
import { secretsInAddress } from '#core/clients/mcp/server-fetch.ts';

test('values that are called a secret or look like one are kept out of responses, names of things are not', () => {
  const url = 'https://a.example/?api_key=abc&project=website-relaunch-plan&ref=a1b2c3d4e5f6a7b8c9&x=1';
  expect(secretsInAddress(url)).toEqual(['abc', 'a1b2c3d4e5f6a7b8c9']);
  expect(secretsInAddress('https://a.example/?k3f8ak3f8ak3f8ak3f8a')).toEqual(['k3f8ak3f8ak3f8ak3f8a']);
});
