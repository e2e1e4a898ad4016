import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conditionalTag, decideGate, type GateQuestion } from '#core/execution/gate/decide.ts';
import { readValue } from '#core/execution/gate/response.ts';

describe('the value of a gate', () => {
  test('is the same however a server orders its keys and spaces its lines', () => {
    const one = readValue('{"items": [{"id": 1, "name": "a"}], "at": 5}', ['/items']);
    const other = readValue('{"at":6,"items":[{"name":"a","id":1}]}', ['/items']);
    expect(one).toMatchObject({ kind: 'value', text: '[{"id":1,"name":"a"}]' });
    expect(other).toEqual(one);
  });

  test('is an object of several pointers, and the whole without any', () => {
    expect(readValue('{"a":1,"b":2,"c":3}', ['/a', '/c'])).toMatchObject({
      text: '{"/a":1,"/c":3}',
    });
    expect(readValue('{"b":2,"a":1}', [])).toMatchObject({ text: '{"a":1,"b":2}' });
    expect(readValue('plain text', [])).toMatchObject({ kind: 'value', text: 'plain text' });
    expect(readValue('"quoted"', [])).toMatchObject({ text: 'quoted' });
  });

  test('differs in the last digit of a number of any length, and shows all of them', () => {
    const one = readValue('{"id":9007199254740993,"list":[1.0,-0]}', ['/id', '/list']);
    expect(one).toMatchObject({ text: '{"/id":9007199254740993,"/list":[1,0]}', isEmpty: false });
    expect(readValue('{"list":[1,0],"id":9007199254740993.0}', ['/id', '/list'])).toEqual(one);
    const { hash } = Object(one);
    expect(readValue('{"id":9007199254740992,"list":[1,0]}', ['/id', '/list'])).not.toMatchObject({ hash });
    expect(readValue('1e400', [])).not.toMatchObject({ hash: Object(readValue('1e401', [])).hash });
    expect(readValue('1e-400', [])).toMatchObject({ isEmpty: false });
  });

  test.each(['null', 'false', '0', '""', '" \\n"', '[]', '{}', '', ' \n'])('%j is empty', (body) => {
    expect(readValue(body, [])).toMatchObject({ isEmpty: true });
  });

  test.each(['1', 'true', '[0]', '{"a":null}', '"x"', 'text', '-1'])('%j is not empty', (body) => {
    expect(readValue(body, [])).toMatchObject({ isEmpty: false });
  });

  test('of several pointers is empty when each of them is', () => {
    expect(readValue('{"a":[],"b":0}', ['/a', '/b'])).toMatchObject({ isEmpty: true });
    expect(readValue('{"a":[],"b":2}', ['/a', '/b'])).toMatchObject({ isEmpty: false });
  });

  test.each([
    ['not JSON at all', ['/a'], 'not_json', 'The response is not JSON.'],
    ['{"a":1}', ['/b'], 'pointer_missing', 'The pointer "/b" finds nothing in the response.'],
    ['{"items":[]}', ['/items/0'], 'pointer_missing', /"\/items\/0" finds nothing/],
    ['['.repeat(30_000) + ']'.repeat(30_000), [], 'not_json', /too deeply/],
  ])('%.20s with %j cannot be read', (body, pointers, reason, error) => {
    expect(readValue(body, pointers)).toEqual({
      kind: 'failed',
      reason,
      error: typeof error === 'string' ? error : expect.stringMatching(error),
    });
  });
});

const BASELINE = { hash: 'h1', isEmpty: false, etag: '"e1"', wokeAt: new Date(0) };
const SAME = { hash: 'h1', isEmpty: false };
const OTHER = { hash: 'h2', isEmpty: false };
const EMPTY = { hash: 'h0', isEmpty: true };
const HOUR = 3_600_000;

function question(over: Partial<GateQuestion> = {}): GateQuestion {
  const gate = { wakeOn: 'changed' as const, maxQuietHours: null };
  return { gate, baseline: BASELINE, dueAt: new Date(HOUR), isManual: false, ...over };
}

describe('the decision of a gate', () => {
  test.each([
    ['the same value', question(), SAME, [false, 'unchanged', false]],
    ['a response of 304', question(), 'not_modified' as const, [false, 'unchanged', false]],
    ['another value', question(), OTHER, [true, 'changed', true]],
    ['no value before', question({ baseline: undefined }), OTHER, [true, 'first', null]],
    ['a failure', question(), { failed: 'status' as const }, [true, 'status', null]],
    ['a manual run', question({ isManual: true }), SAME, [true, 'manual', false]],
    ['a manual run that sees a change', question({ isManual: true }), OTHER, [true, 'manual', true]],
  ])('on %s, with wakeOn changed', (_name, asked, seen, [wakes, reason, changed]) => {
    expect(decideGate(asked, seen)).toEqual({ wakes, reason, changed });
  });

  const gate = { wakeOn: 'not_empty' as const, maxQuietHours: null };
  test.each([
    ['the same value', question({ gate }), SAME, [true, 'not_empty', false]],
    ['an empty one', question({ gate }), EMPTY, [false, 'empty', true]],
    ['an empty one at first', question({ gate, baseline: undefined }), EMPTY, [false, 'empty', null]],
    [
      'a 304 of an empty one',
      question({ gate, baseline: { ...BASELINE, isEmpty: true } }),
      'not_modified' as const,
      [false, 'empty', false],
    ],
    [
      'a 304 without a baseline',
      question({ gate, baseline: undefined }),
      'not_modified' as const,
      [true, 'not_empty', null],
    ],
  ])('on %s, with wakeOn not_empty', (_name, asked, seen, [wakes, reason, changed]) => {
    expect(decideGate(asked, seen)).toEqual({ wakes, reason, changed });
  });

  test('after maxQuietHours by the instants of the schedule the model is woken in any case', () => {
    const quiet = { wakeOn: 'changed' as const, maxQuietHours: 24 };
    const at = (hours: number) => decideGate(question({ gate: quiet, dueAt: new Date(hours * HOUR) }), SAME);
    expect(at(23.99)).toMatchObject({ wakes: false });
    expect(at(24)).toEqual({ wakes: true, reason: 'quiet_too_long', changed: false });
  });

  test('an entity tag is sent exactly where a response of 304 would end the run', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('changed' as const, 'not_empty' as const),
        fc.option(fc.integer({ min: 1, max: 3 })),
        fc.option(
          fc.record({
            hash: fc.constant('h1'),
            isEmpty: fc.boolean(),
            etag: fc.option(fc.constant('"e1"')),
            wokeAt: fc.constant(new Date(0)),
          }),
          { nil: undefined },
        ),
        fc.integer({ min: 0, max: 4 }),
        fc.boolean(),
        (wakeOn, maxQuietHours, baseline, hours, isManual) => {
          const asked = {
            gate: { wakeOn, maxQuietHours },
            baseline,
            dueAt: new Date(hours * HOUR),
            isManual,
          };
          const tag = conditionalTag(asked);
          const isEnd = !decideGate(asked, 'not_modified').wakes && baseline !== undefined;
          expect(tag).toBe(isEnd ? baseline.etag : null);
        },
      ),
    );
  });
});
