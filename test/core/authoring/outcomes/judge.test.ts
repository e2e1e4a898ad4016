import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResultCheck } from '#core/authoring/definition/index.ts';
import { decideChecks, type Evidence } from '#core/authoring/outcomes/checks.ts';
import { countSources } from '#core/authoring/outcomes/evidence.ts';

const NOTHING: Evidence = { outcome: 'done', result: '', patterns: new Map(), calls: [] };

function verdict(check: ResultCheck, evidence: Partial<Evidence>) {
  return decideChecks([check], { ...NOTHING, ...evidence })[0]!;
}

describe('a check', () => {
  test.each<[ResultCheck, Partial<Evidence>, boolean, string]>([
    [{ type: 'result_not_empty' }, { result: 'x' }, true, 'The result has a text.'],
    [{ type: 'result_not_empty' }, { result: ' \n\t' }, false, 'The result is empty.'],
    [
      { type: 'result_matches', pattern: 'a' },
      { patterns: new Map([[0, true]]) },
      true,
      'The pattern is in the result.',
    ],
    [
      { type: 'result_matches', pattern: 'a' },
      { patterns: new Map([[0, false]]) },
      false,
      'The pattern is not in the result.',
    ],
    [
      { type: 'result_does_not_match', pattern: 'a' },
      { patterns: new Map([[0, true]]) },
      false,
      'The pattern is in the result.',
    ],
    [
      { type: 'result_does_not_match', pattern: 'a' },
      { patterns: new Map([[0, undefined]]) },
      false,
      'The result is too long for this pattern to be looked for.',
    ],
    [
      { type: 'distinct_sources', atLeast: 2 },
      { result: 'https://a.example/1 and https://a.example/2' },
      true,
      'Distinct source addresses in the result: 2, at least 2 wanted.',
    ],
    [
      { type: 'tool_succeeded', tool: 'search', atLeast: 2 },
      { calls: [{ name: 'search', policyId: 'pol_1', succeeded: 1, refused: 0 }] },
      false,
      'Successful calls of search: 1, at least 2 wanted.',
    ],
    [
      { type: 'tool_succeeded', tool: 'pol_1', atLeast: 1 },
      { calls: [{ name: 'search', policyId: 'pol_1', succeeded: 1, refused: 0 }] },
      true,
      'Successful calls of pol_1: 1, at least 1 wanted.',
    ],
    [
      { type: 'no_refused_calls' },
      { calls: [{ name: 'search', policyId: 'pol_1', succeeded: 3, refused: 2 }] },
      false,
      'Refused calls: 2.',
    ],
    [
      { type: 'no_refused_calls' },
      { calls: [{ name: 'search', policyId: 'pol_1', succeeded: 0, refused: 0 }] },
      true,
      'Refused calls: 0.',
    ],
  ])('%j judges by code', (check, evidence, passed, detail) => {
    expect(verdict(check, evidence)).toEqual({ type: check.type, passed, detail });
  });

  test('of what a report has to hold is not asked of a run that has nothing to report', () => {
    const checks: ResultCheck[] = [
      { type: 'result_matches', pattern: 'a' },
      { type: 'distinct_sources', atLeast: 1 },
      { type: 'result_not_empty' },
      { type: 'result_does_not_match', pattern: 'b' },
      { type: 'tool_succeeded', tool: 'search', atLeast: 1 },
      { type: 'no_refused_calls' },
    ];
    const evidence: Omit<Evidence, 'outcome'> = {
      result: ' ',
      patterns: new Map([
        [0, false],
        [3, true],
      ]),
      calls: [{ name: 'search', policyId: 'pol_1', succeeded: 0, refused: 1 }],
    };
    const passed = (outcome: Evidence['outcome']) =>
      decideChecks(checks, { ...evidence, outcome }).map((each) => each.passed);
    expect(passed('nothing_to_report')).toEqual([true, true, false, false, false, false]);
    for (const outcome of ['done', 'partial'] as const) {
      expect(passed(outcome)).toEqual(checks.map(() => false));
    }
    expect(decideChecks(checks, { ...evidence, outcome: 'nothing_to_report' })[0]).toEqual({
      type: 'result_matches',
      passed: true,
      detail: 'Not asked of a run that has nothing to report.',
    });
  });

  test('gets its own verdict and no other one', () => {
    const checks: ResultCheck[] = [
      { type: 'result_not_empty' },
      { type: 'result_matches', pattern: 'a' },
      { type: 'result_matches', pattern: 'b' },
    ];
    const patterns = new Map([
      [1, true],
      [2, false],
    ]);
    const verdicts = decideChecks(checks, { ...NOTHING, result: 'a', patterns });
    expect(verdicts.map(({ passed }) => passed)).toEqual([true, true, false]);
  });
});

describe('source addresses', () => {
  test.each([
    ['none', 'ftp://a.example, a.example and mailto:b@a.example', 0],
    ['in Markdown', '[a](https://a.example/x), <https://b.example/>, `https://c.example`.', 3],
    ['in JSON', '{"url":"https://a.example/x","other":"https://b.example"}', 2],
    ['at the end of sentences', 'See https://a.example/x. Or https://a.example/x, or not?', 1],
    ['that differ in their fragment', 'https://a.example/x#one https://a.example/x#two', 1],
    ['that differ in their case before the path', 'HTTPS://A.example/x https://a.example/x', 1],
    ['that differ in path or query', 'https://a.example/x https://a.example/y https://a.example/x?p=2', 3],
    ['that are none', 'https://:80 https://[ http:// https://a b', 1],
  ])('are counted: %s', (_, text, number) => {
    expect(countSources(text, 100)).toBe(number);
  });

  test('are as many as were written, in any text around them', () => {
    const host = fc.stringMatching(/^[a-z]{1,10}$/);
    const between = fc.constantFrom(
      ' ',
      '\n',
      '\r\n',
      '\t',
      '\u00a0',
      '\u2028',
      '", "',
      "', '",
      ') and (',
      '](',
      '. ',
      '… ',
      '> <',
      ' | ',
      '; ',
      '`, `',
    );
    fc.assert(
      fc.property(fc.uniqueArray(host, { minLength: 1, maxLength: 30 }), between, (hosts, glue) => {
        const text = `(${hosts.map((name) => `https://${name}.example/p`).join(glue)})`;
        return countSources(text, 100) === hosts.length;
      }),
    );
  });

  test('are no more than are asked for, so that a long text is not read to its end', () => {
    const text = Array.from({ length: 50_000 }, (_, n) => `https://a.example/${n}`).join(' ');
    expect(countSources(text, 3)).toBe(3);
  });
});
