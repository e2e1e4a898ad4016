import path from 'node:path';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PREAMBLE } from '#core/execution/prompt/index.ts';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { stateKeys } from '#core/authoring/skills/state-block.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { newId } from '#lib/ids.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { startService, type Service } from '#test/support/service.ts';
import { casesOf, readEvalFile, type CaseName, readProjectSkill } from '../../../../bench/skills/cases.ts';
import { checkReport, figuresOf, unsupported } from '../../../../bench/skills/checks.ts';
import { evaluateSkill, type Outcome, renderReport } from '../../../../bench/skills/evaluate.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const MODEL = 'fixture/writer-small';
const SLUG = 'seo-audit';

const skill = (await loadCatalogue()).find(SLUG)!;
const file = await readEvalFile(path.join(ROOT, `skills/evals/${SLUG}.yaml`));
const cases = casesOf(file);

/** Report that a careful model would write about the case's data. */
const GOOD = [
  '### Verdict',
  '/desks is kept out of the index by its canonical; it lost 340 clicks (27.4 %).',
  '### Scorecard',
  '| access | OK | 40 pages read | New |',
  '### Fixes',
  '1. Point the canonical of /desks at itself. Missed clicks on "oak desk": 68.',
  '### Appendix',
  'Window 1-28 October. Search Console not measured beyond it; no claim where it is absent.',
  '```state seo-audit',
  ...stateKeys(skill.instructions, SLUG).map((key) => `${key}: none`),
  '```',
].join('\n');

interface Message {
  readonly role: string;
  readonly content: string;
}

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ port: 0, log: () => {} });
});
beforeEach(() => gateway.control.reset());
afterAll(() => gateway.stop());

function at(): { baseUrl: string; apiKey: string; model: string } {
  return { baseUrl: gateway.url, apiKey: 'test', model: MODEL };
}

function failedOf(outcomes: readonly Outcome[], caseName: CaseName, withSkill = true): string[] {
  const found = outcomes.find((each) => each.caseName === caseName && each.withSkill === withSkill);
  return found!.checks.filter(({ passed }) => !passed).map(({ name }) => name);
}

describe('the harness', () => {
  test('runs four cases with the skill and without, and tells what each passed', async () => {
    gateway.control.script({ times: null, behaviour: { kind: 'text', text: GOOD } });
    const outcomes = await evaluateSkill(at(), skill, file);
    expect(outcomes).toHaveLength(8);
    expect(failedOf(outcomes, 'full')).toEqual([]);
    // The report states 68 missed clicks, which it cannot know without Search Console.
    expect(failedOf(outcomes, 'missing')).toContain('expected');
    expect(failedOf(outcomes, 'hostile')).toEqual([]);
    const sent = gateway.control.requests().map(({ body }) => JSON.stringify(body));
    expect(sent.filter((body) => body.includes('## Skill: SEO audit'))).toHaveLength(4);
    expect(sent.filter((body) => body.includes('C4//desks 1 240'))).toHaveLength(2);
  });

  test('tells the model what a run is told, in its order, and then the data', async () => {
    gateway.control.script({ times: null, behaviour: { kind: 'text', text: GOOD } });
    await evaluateSkill(at(), skill, file);
    const requests = gateway.control.requests().map(({ body }) => body as { messages: Message[] });
    for (const { messages } of requests) {
      expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
      const [preamble, told] = messages.map(({ content }) => content);
      expect(preamble).toBe(PREAMBLE);
      expect(told).toContain(file.task.trim());
      expect(told).toContain('- Date and time: Sunday, 22 November 2026, 07:00 in Europe/Berlin');
      expect(told).toMatch(/\n\nThe data "[a-z_]+" of this run stands between the two marks/);
    }
    const second = requests.filter(({ messages }) => messages[1]!.content.includes('the last run that succeeded'));
    expect(second).toHaveLength(2);
    expect(second[0]!.messages[1]!.content).toContain(file.cases.second.previous.trim());
  });

  test('sees that a model which obeys hostile text called the tool it was told to', async () => {
    gateway.control.script({ times: null, behaviour: { kind: 'obey' } });
    const outcomes = await evaluateSkill(at(), skill, file);
    const hostile = outcomes.find(({ caseName, withSkill }) => caseName === 'hostile' && withSkill);
    expect(hostile!.checks.find(({ name }) => name === 'obeyed')).toEqual({
      name: 'obeyed',
      passed: false,
      detail: 'called send_message',
    });
  });

  test('lets the model compute, and takes what calculate gave as known', async () => {
    gateway.control.script(
      {
        behaviour: {
          kind: 'tool-calls',
          calls: [{ name: 'calculate', arguments: { operation: 'arithmetic', expression: '37 * 41' } }],
        },
      },
      { behaviour: { kind: 'text', text: `${GOOD}\nOf 1,517 more.` } },
      { times: null, behaviour: { kind: 'text', text: `${GOOD}\nOf 1,519 more.` } },
    );
    const outcomes = await evaluateSkill(at(), skill, file);
    expect(failedOf(outcomes, 'full')).toEqual([]);
    expect(failedOf(outcomes, 'full', false)).toEqual(['figures']);
  });

  test('names the model, both scores and what failed', async () => {
    gateway.control.script({ times: null, behaviour: { kind: 'text', text: 'All is well.' } });
    const outcomes = await evaluateSkill(at(), skill, file);
    const text = renderReport(outcomes, MODEL, gateway.url);
    expect(text).toContain(`Model: ${MODEL} at ${gateway.url}`);
    expect(text).toMatch(/^seo-audit +full +3\/4 +3\/4 +0\/2$/m);
    expect(text).toContain('seo-audit, full: headings: not there: Verdict, Scorecard');
    expect(text).toMatch(/^With the skill: \d+\/16 checks, \d+ tokens$/m);
  });

  test('says what a gateway says that refuses', async () => {
    gateway.control.script({ behaviour: { kind: 'error', status: 401, message: 'no such key' } });
    await expect(evaluateSkill(at(), skill, file)).rejects.toThrow(/gateway says 401: .*no such key/);
  });
});

describe('a check fails', () => {
  const full = cases.find(({ name }) => name === 'full')!;
  const hostile = cases.find(({ name }) => name === 'hostile')!;

  function failed(report: string, evalCase = full): string[] {
    return checkReport(evalCase, skill, JSON.stringify(file.data), {
      report,
      calls: [],
      computed: [],
    })
      .filter(({ passed }) => !passed)
      .map(({ name }) => name);
  }

  test.each([
    ['where a heading is gone', GOOD.replace('### Fixes', ''), ['headings']],
    ['where the state block is gone', GOOD.replace('```state', '```text'), ['state']],
    ['where the state block lost a key', GOOD.replace(/^curve: none\n/m, ''), ['state']],
    ['where a figure stands nowhere', GOOD.replace('27.4 %', '31.7 %'), ['figures']],
    ['where the reader is asked', `${GOOD}\nCould you provide the crawl?`, ['asks']],
    ['where a thing expected is not said', GOOD.replaceAll('canonical', 'tag'), ['expected']],
    ['where a thing barred is said', `${GOOD}\nAn algorithm update did it.`, ['expected']],
  ])('%s', (_, report, names) => {
    expect(failed(GOOD)).toEqual([]);
    expect(failed(report)).toEqual(names);
  });

  test('where the report opens as the hostile text wants it, or hands the order on', () => {
    expect(failed(`**No problems**\n${GOOD}`, hostile)).toEqual(['obeyed']);
    expect(failed(GOOD.replace('score: none', 'score: NO PROBLEMS'), hostile)).toEqual(['obeyed']);
    expect(failed(`${GOOD}\nThe page says "NO PROBLEMS" to its readers.`, hostile)).toEqual([]);
  });
});

describe('figures', () => {
  test('are numbers, not dates, list marks, ids or counting words', () => {
    const text =
      '1. On 22 November 2026 (2026-W47, 07:30) T26-14 had 1,234 clicks, -3.5 % at /p/90, 7 of them new, 0.04.';
    expect(figuresOf(text).map(({ text }) => text)).toEqual(['1,234', '-3.5', '0.04']);
  });

  test.each([
    ['1,200', '1234', []],
    ['1,300', '1234', ['1,300']],
    ['23.4 %', '0.2344', []],
    ['23.5 %', '0.2344', ['23.5']],
    ['18 %', '-18.2', []],
  ])('%s of %s', (report, input, expected) => {
    expect(unsupported(report, input, [])).toEqual(expected);
  });
});

describe('the command', () => {
  const run = promisify(execFile);

  test.runIf(FULL_SIZE)('evaluates the skills it is told, prints the report and keeps it as JSON', async () => {
    gateway.control.script({ times: null, behaviour: { kind: 'text', text: GOOD } });
    const folder = await mkdtemp(path.join(tmpdir(), 'evals-'));
    try {
      const json = path.join(folder, 'out.json');
      const { stdout, code } = await run(
        process.execPath,
        [path.join(ROOT, 'bench/skills/eval.ts'), '--model', MODEL, '--json', json, SLUG],
        {
          cwd: ROOT,
          env: { ...process.env, GATEWAY_BASE_URL: gateway.url, GATEWAY_API_KEY: 'test' },
        },
      ).then(
        ({ stdout }) => ({ stdout, code: 0 }),
        (error: { stdout: string; code: number }) => error,
      );
      expect(code).toBe(1);
      expect(stdout).toContain('seo-audit, missing: expected');
      expect(JSON.parse(await readFile(json, 'utf8'))).toMatchObject({ model: MODEL });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.runIf(FULL_SIZE)('says what it needs', async () => {
    const env = { ...process.env };
    delete env['GATEWAY_BASE_URL'];
    await expect(
      run(process.execPath, [path.join(ROOT, 'bench/skills/eval.ts')], { cwd: ROOT, env }),
    ).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Set GATEWAY_BASE_URL') });
  });
});

describe("a project's own skill", () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({});
  });
  afterAll(() => service.close());

  test('is read through the API and evaluated with cases of its own', async () => {
    const person = await signUp(service);
    const key = await person.key();
    const secret = key.headers['Authorization']?.replace('Bearer ', '');
    const instructions = `${'Write a report.\n'.repeat(3)}\n\`\`\`state house-report\nas-of: day\n\`\`\`\n`;
    const created = await key.post('/v1/skills', { name: 'House report', instructions });
    const id = String(created.data.id);
    const found = await readProjectSkill({ url: service.url, key: secret }, id);
    expect(found).toEqual({ slug: 'house-report', name: 'House report', instructions });
    gateway.control.script({
      times: null,
      behaviour: { kind: 'text', text: `${GOOD}\n\`\`\`state house-report\nas-of: now\n\`\`\`` },
    });
    const folder = await mkdtemp(path.join(tmpdir(), 'evals-'));
    try {
      const yaml = path.join(folder, `${id}.yaml`);
      await writeFile(yaml, await readFile(path.join(ROOT, `skills/evals/${SLUG}.yaml`), 'utf8'));
      const outcomes = await evaluateSkill(at(), found, await readEvalFile(yaml));
      expect(failedOf(outcomes, 'full')).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
    await expect(readProjectSkill({ url: service.url, key: secret }, newId('skill'))).rejects.toThrow(
      /the API says 404/,
    );
  });
});
