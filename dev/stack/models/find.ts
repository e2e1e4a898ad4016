import path from 'node:path';
import { readModelSources } from '#lib/config/index.ts';
import { askForModels } from './ask.ts';
import { readEntries, settle, writeEntries, type Candidate, type Tried } from './sources.ts';
import { LOCAL_PORTS, PROVIDERS, titleOf, type LocalPort, type Provider } from './servers.ts';

export interface FoundModels {
  /** Variables with which API and worker use the found models; undefined for the fixture. */
  readonly variables: Readonly<Record<string, string>> | undefined;
  /** Describes the found models: "Ollama on this machine, 3 models". */
  readonly summary: string;
  /** A sentence for each source without models: the attempt, the response, the remedy. */
  readonly notes: readonly string[];
  /** The model of the demo; undefined if no source has one. */
  readonly demo: DemoModel | undefined;
}

export interface DemoModel {
  /** The id of the model, with and without the name of its source. */
  readonly modelIds: readonly string[];
  /** True if runs of the model cost nothing, so runs may start without a question. */
  readonly isFree: boolean;
}

export interface FindOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  /** True to use the fixture even if models are found. */
  readonly fixture: boolean;
  readonly providers?: readonly Provider[];
  readonly localPorts?: readonly LocalPort[];
}

const GUESS_MS = 300;
const SOURCE_MS = 5_000;

/**
 * Looks for models: those of `GATEWAYS_FILE` or `GATEWAY_BASE_URL`; else those of all providers with a key in the
 * environment and of all servers on this machine; else the fixture.
 * @throws when `GATEWAYS_FILE` or `GATEWAY_BASE_URL` is faulty
 */
export async function findModels(options: FindOptions): Promise<FoundModels> {
  const env = Object.fromEntries(Object.entries(options.env).filter(([, value]) => value !== ''));
  if (options.fixture || env['FIXTURE_MODE'] === 'true') return fixture('as asked', []);
  const { GATEWAYS_FILE: ownFile, GATEWAY_BASE_URL: baseUrl } = env;
  const isGiven = ownFile !== undefined || baseUrl !== undefined;
  const madeFile = path.join(options.dataDir, 'gateways.yaml');
  const seenFile = path.join(options.dataDir, 'gateways-seen.yaml');
  const earlier = readEntries(seenFile);
  const candidates = isGiven ? given(env) : around(env, options);
  const tried = await Promise.all(
    candidates.map(async (candidate) => ({
      ...candidate,
      answer: await askForModels(candidate.asked, candidate.isGuess ? GUESS_MS : SOURCE_MS),
    })),
  );
  const isSource = ({ isGuess, entry, answer }: Tried) =>
    !isGuess || ('models' in answer && answer.isMarked) || earlier.some((known) => known.baseUrl === entry.baseUrl);
  const found = tried.filter((each) => isSource(each));
  const sources = ownFile === undefined ? settle(found, earlier) : found;
  const empty = tried.filter((each) => !isSource(each) && 'isEmpty' in each.answer);
  const notes = [
    ...[...sources, ...empty].flatMap((each) => faultOf(each)),
    ...(ownFile === undefined && isGiven ? unusedKeys(env) : []),
  ];
  if (sources.length === 0) return fixture('no key of a provider, no model server here', notes);
  if (ownFile === undefined) {
    const entries = sources.map(({ entry }) => entry);
    const used = new Set(entries.map((entry) => entry.baseUrl));
    writeEntries(madeFile, entries);
    writeEntries(seenFile, [...entries, ...earlier.filter((known) => !used.has(known.baseUrl))]);
  }
  const working = sources.flatMap(({ label, entry, answer }) =>
    'models' in answer ? [{ label, entry, models: answer.models }] : [],
  );
  const [first] = working;
  const [model = ''] = first?.models ?? [];
  return {
    variables: { GATEWAYS_FILE: ownFile ?? madeFile, FIXTURE_MODE: 'false' },
    summary:
      working.map(({ label, models }) => `${label}, ${counted(models)}`).join('; ') ||
      'none (`npm start -- --fixture` pretends to have some)',
    notes,
    demo: first && { modelIds: [model, `${first.entry.name}/${model}`], isFree: first.entry.free },
  };
}

function fixture(why: string, notes: readonly string[]): FoundModels {
  const demo = { modelIds: ['fixture/writer-small'], isFree: true };
  const summary = `the fixture, which only pretends (${why}; see docs/models.md)`;
  return { variables: undefined, summary, notes, demo };
}

function counted({ length }: readonly string[]): string {
  return length === 1 ? '1 model' : `${length} models`;
}

/** Describes a failed attempt in one sentence, with the response and the remedy. */
function faultOf({ label, entry, answer }: Tried): string[] {
  if ('models' in answer) return [];
  const url = new URL(`${entry.baseUrl}/models`);
  url.username = url.password = '';
  return [`${label} gives no models (GET ${url.href}: ${answer.came}); ${answer.remedy}.`];
}

function unusedKeys(env: Environment): string[] {
  const names = PROVIDERS.map(({ apiKeyVariable }) => apiKeyVariable).filter((name) => env[name]);
  const [verb, what] = names.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return names.length === 0
    ? []
    : [
        `${names.join(', ')} ${verb} not used, as GATEWAY_BASE_URL is set; GATEWAYS_FILE can list ${what} too (docs/models.md).`,
      ];
}

type Environment = Partial<Record<string, string>>;

/** Returns the sources that a person has configured. */
function given(env: Environment): Candidate[] {
  const isFile = env['GATEWAYS_FILE'] !== undefined;
  const { sources, faults } = readModelSources(env);
  if (!isFile && !/^https?:/.test(sources[0]?.baseUrl ?? '')) {
    faults.push('GATEWAY_BASE_URL: expected an http or https URL');
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return sources.map(({ apiKey, name, baseUrl, dialect, free, prefix }) => {
    const entry = { name, baseUrl, dialect, free, prefix };
    return isFile
      ? {
          label: entry.name,
          asked: { ...entry, apiKey, keyPlace: KEY_PLACE, correction: CORRECT_FILE },
          isGuess: false,
          entry,
        }
      : {
          label: 'GATEWAY_BASE_URL',
          place: 'at GATEWAY_BASE_URL',
          asked: { ...entry, apiKey, keyPlace: 'GATEWAY_API_KEY', correction: CORRECT_ADDRESS },
          isGuess: false,
          entry: apiKey === undefined ? entry : { ...entry, apiKeyVariable: 'GATEWAY_API_KEY' },
        };
  });
}

const KEY_PLACE = 'the variable that GATEWAYS_FILE names for it';
const CORRECT_FILE = 'correct its baseUrl in GATEWAYS_FILE';
const CORRECT_ADDRESS = 'correct GATEWAY_BASE_URL';
const FORGET = 'delete .data/gateways-seen.yaml to forget it';

/** Returns the providers with a key in the environment, then the usual ports of this machine. */
function around(env: Environment, { providers = PROVIDERS, localPorts = LOCAL_PORTS }: FindOptions): Candidate[] {
  const withKey = providers.flatMap(({ title, ...provider }): Candidate[] => {
    const { apiKeyVariable, dialect } = provider;
    const apiKey = env[apiKeyVariable];
    if (apiKey === undefined) return [];
    return [
      {
        label: `${title} (${apiKeyVariable})`,
        asked: { ...provider, apiKey, keyPlace: apiKeyVariable, correction: 'look at the network' },
        isGuess: false,
        entry: { name: dialect, ...provider, free: false, prefix: true },
      },
    ];
  });
  const local = localPorts.map(({ port, dialect }): Candidate => {
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    return {
      label: `${titleOf(dialect)} on this machine`,
      place: 'on this machine',
      asked: { baseUrl, apiKey: undefined, dialect, keyPlace: KEY_PLACE, correction: FORGET },
      isGuess: true,
      entry: { name: `local-${port}`, baseUrl, dialect, free: false, prefix: true },
    };
  });
  return [...withKey, ...local];
}
