import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from '../../../cli/src/files/diff.ts';
import { parseHeaded, renderHeaded } from '../../../cli/src/files/document.ts';
import { ROUTINE_HEAD } from '../../../cli/src/files/generated/head-schemas.ts';
import { schemaFaults, withDefaults, withoutDefaults } from '../../../cli/src/files/schema.ts';
import { awkward } from './awkward.ts';

const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }).map((value) => JSON.parse(JSON.stringify(value)));

test('every head and every text come back as they were', () => {
  fc.assert(
    fc.property(awkward, fc.array(awkward), json, awkward, (name, list, value, body) => {
      const head = { name, list, value };
      const read = parseHeaded('a.md', renderHeaded(head, body, 'x'));
      expect(JSON.stringify(read.head)).toBe(JSON.stringify(head));
      expect(read.body).toBe(body);
      const again = parseHeaded('a.md', read.rewritten({ ...head, name: 'other' }, body));
      expect(JSON.stringify(again.head)).toBe(JSON.stringify({ ...head, name: 'other' }));
    }),
  );
});

test('a text without a line break at the end of its file is the same text', () => {
  const file = renderHeaded({ name: 'a' }, 'Text.', 'x');
  expect(file.endsWith('Text.\n')).toBe(true);
  expect(parseHeaded('a.md', file.slice(0, -1)).body).toBe('Text.');
  expect(parseHeaded('a.md', `${file}\n`).body).toBe('Text.\n');
  expect(parseHeaded('a.md', '---\nname: a\n---').body).toBe('');
});

test('defaults that are left out are filled in again', () => {
  const lean = {
    name: 'a',
    schedule: '@daily',
    model: { provider: 'gateway', modelId: 'a/b' },
    limits: { maxSteps: 3 },
    gate: { url: 'https://example.com/' },
    checks: [{ type: 'tool_succeeded', tool: 'x' }],
    notifications: { mail: { on: ['failed'], to: 'owners' } },
  };
  const complete = withDefaults(ROUTINE_HEAD, lean);
  expect(complete).toMatchObject({
    timezone: 'UTC',
    startsAt: null,
    model: { connectionId: null },
    limits: { maxSteps: 3, timeoutSeconds: 900, abnormalFactor: 5 },
    gate: { tool: null, pointers: [], wakeOn: 'changed', maxQuietHours: null },
    checks: [{ atLeast: 1 }],
    notifications: { successPingUrl: null },
    variables: {},
  });
  expect(schemaFaults(ROUTINE_HEAD, complete)).toEqual([]);
  expect(withoutDefaults(ROUTINE_HEAD, complete)).toEqual(lean);
});

test('a difference of lines gives either text', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd\r'), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const diff = diffLines(a.join('\n'), b.join('\n'));
      const side = (mark: string) => diff.filter((line) => line.mark !== mark).map((line) => line.text);
      expect(side('+').join('\n')).toBe(a.join('\n'));
      expect(side('-').join('\n')).toBe(b.join('\n'));
    }),
  );
  const long = Array.from({ length: 5_000 }, (_, at) => `${at}`);
  expect(diffLines(long.join('\n'), long.toReversed().join('\n')).length).toBeGreaterThan(9_000);
});
