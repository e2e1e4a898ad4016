/** `npm run skills:eval -- [slug…]`: see docs/skills-writing.md. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import {
  placeboFor,
  renderTrials,
  tryChains,
  tryWorlds,
  type Trial,
  evaluateSkill,
  renderReport,
  type Outcome,
} from './evaluate.ts';
import { askQuestions, renderComprehension, type Comprehension } from './comprehension.ts';
import { readEvalFile, readProjectSkill, type EvaluatedSkill } from './cases.ts';
import { readGates } from './gates.ts';

export const EVALS = fileURLToPath(new URL('../../skills/evals/', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: process.env['GATEWAY_MODEL'] ?? '' },
    cases: { type: 'string', default: EVALS },
    api: { type: 'string' },
    json: { type: 'string' },
    worlds: { type: 'string' },
    chains: { type: 'string' },
    questions: { type: 'boolean', default: false },
  },
});

const baseUrl = process.env['GATEWAY_BASE_URL'];
if (baseUrl === undefined || values.model === '') {
  console.error(
    'Set GATEWAY_BASE_URL (and GATEWAY_API_KEY) and name a model: npm run skills:eval -- --model <id> [slug…]',
  );
  process.exit(2);
}
const gateway = { baseUrl, apiKey: process.env['GATEWAY_API_KEY'], model: values.model };

if (values.worlds !== undefined) {
  await evaluateTruth('worlds', tryWorlds, Number(values.worlds));
  process.exit(0);
}
if (values.chains !== undefined) {
  await evaluateTruth('chains', tryChains, Number(values.chains));
  process.exit(0);
}

if (values.questions) {
  await examine();
  process.exit();
}

const outcomes: Outcome[] = [];
for (const { id, skill } of await chosenSkills()) {
  console.error(`${id} …`);
  const file = await readEvalFile(path.join(values.cases, `${id}.yaml`));
  outcomes.push(...(await evaluateSkill(gateway, skill, file)));
}
console.log(renderReport(outcomes, gateway.model, gateway.baseUrl));
if (values.json !== undefined) {
  await writeFile(values.json, JSON.stringify({ model: gateway.model, gateway: baseUrl, outcomes }, null, 2));
}
const failed = outcomes.some(({ withSkill, checks }) => withSkill && checks.some(({ passed }) => !passed));
process.exitCode = failed ? 1 : 0;

/**
 * Tries the skills that have noise gates on invented worlds or chains whose truth is known. bench/skills/evaluate.ts
 * explains the three arms.
 */
async function evaluateTruth(what: 'worlds' | 'chains', tryAll: typeof tryWorlds, count: number): Promise<void> {
  if (!Number.isInteger(count) || count < 3) throw new Error(`--${what} is a whole number from 3`);
  const gates = await readGates();
  const { skills } = await loadCatalogue();
  const others = skills.filter(({ slug }) => gates[slug] === undefined);
  const trials: Trial[] = [];
  for (const { id, skill } of await chosenSkills()) {
    const [rule] = gates[id] ?? [];
    if (rule === undefined) continue;
    console.error(`${id} …`);
    const texts = { none: null, placebo: placeboFor(skill, others), skill };
    trials.push(...(await tryAll(gateway, { slug: id, rule, texts }, count)));
  }
  if (trials.length === 0) throw new Error('none of these skills has a rule in skills/gates.yaml');
  console.log(renderTrials(trials, gateway.model, gateway.baseUrl, what));
  if (values.json !== undefined) {
    await writeFile(values.json, JSON.stringify({ model: gateway.model, trials }, null, 2));
  }
}

/** Asks the questions of every chosen skill that has some. A wrong answer with the text is a fault of the text. */
async function examine(): Promise<void> {
  const results: Comprehension[] = [];
  for (const { id, skill } of await chosenSkills()) {
    const { questions } = await readEvalFile(path.join(values.cases, `${id}.yaml`));
    if (questions.length === 0) continue;
    console.error(`${id} …`);
    results.push(...(await askQuestions(gateway, skill, questions)));
  }
  if (results.length === 0) throw new Error('none of these skills has questions');
  console.log(renderComprehension(results, gateway.model, gateway.baseUrl));
  if (values.json !== undefined) {
    await writeFile(values.json, JSON.stringify({ model: gateway.model, results }, null, 2));
  }
  process.exitCode = results.some(({ withSkill, misses }) => withSkill && misses.length > 0) ? 1 : 0;
}

async function chosenSkills(): Promise<{ id: string; skill: EvaluatedSkill }[]> {
  if (values.api !== undefined) {
    const api = { url: values.api, key: process.env['API_KEY'] };
    return Promise.all(positionals.map(async (id) => ({ id, skill: await readProjectSkill(api, id) })));
  }
  const catalogue = await loadCatalogue();
  const { skills } = catalogue;
  const unknown = positionals.filter((slug) => catalogue.find(slug) === undefined);
  if (unknown.length > 0) throw new Error(`no curated skill: ${unknown.join(', ')}`);
  const chosen = positionals.length === 0 ? skills : positionals.flatMap((slug) => catalogue.find(slug) ?? []);
  return chosen.map((skill) => ({ id: skill.slug, skill }));
}
