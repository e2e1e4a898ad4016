import { fieldsOf, RasError } from './errors.ts';
import { Actions } from './resources/actions.ts';
import { Chats } from './resources/chats.ts';
import { Connections, Tools } from './resources/connections.ts';
import { ModelAccounts, Models } from './resources/models.ts';
import { Project, Results, Schedules, Usage } from './resources/results.ts';
import { Routines } from './resources/routines.ts';
import { Questions, Runs } from './resources/runs.ts';
import { Facts, Skills } from './resources/skills.ts';
import { Transport } from './transport.ts';
import { webhooks } from './webhooks.ts';

export interface RasOptions {
  /** An API key of one project. By default the value of `RAS_API_KEY` in the environment. */
  readonly apiKey?: string | undefined;
  /** Address of the service. By default the value of `RAS_API_URL` in the environment. */
  readonly baseUrl?: string | undefined;
  /** Time for each attempt at a call. Default 60 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Retries after a failure that may pass. Default 2. */
  readonly maxRetries?: number | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** True to return each number that JavaScript would round as an `ExactNumber`. Default false. */
  readonly exactNumbers?: boolean | undefined;
}

/** A client of the Routine Automation Service, for one project. */
export class Ras {
  readonly routines: Routines;
  readonly runs: Runs;
  readonly actions: Actions;
  readonly questions: Questions;
  readonly results: Results;
  readonly skills: Skills;
  readonly facts: Facts;
  readonly tools: Tools;
  readonly chats: Chats;
  readonly connections: Connections;
  readonly models: Models;
  readonly modelAccounts: ModelAccounts;
  readonly schedules: Schedules;
  readonly usage: Usage;
  readonly project: Project;
  readonly webhooks = webhooks;

  /** @throws {RasError} without an API key or an address */
  constructor(options: RasOptions = {}) {
    const { timeoutMs = 60_000, maxRetries = 2, fetch, exactNumbers = false } = options;
    const apiKey = options.apiKey ?? environment('RAS_API_KEY');
    const baseUrl = addressOf(options.baseUrl ?? environment('RAS_API_URL'));
    if (!apiKey) throw new RasError('Give apiKey, or set RAS_API_KEY.');
    const transport = new Transport({ apiKey, baseUrl, timeoutMs, maxRetries, fetch, exactNumbers });
    this.routines = new Routines(transport);
    this.runs = new Runs(transport);
    this.actions = new Actions(transport);
    this.questions = new Questions(transport);
    this.results = new Results(transport);
    this.skills = new Skills(transport);
    this.facts = new Facts(transport);
    this.tools = new Tools(transport);
    this.chats = new Chats(transport);
    this.connections = new Connections(transport);
    this.models = new Models(transport);
    this.modelAccounts = new ModelAccounts(transport);
    this.schedules = new Schedules(transport);
    this.usage = new Usage(transport);
    this.project = new Project(transport);
  }
}

/** Reads an environment variable; undefined in browsers and edge workers. */
function environment(name: string): string | undefined {
  const { process } = fieldsOf(globalThis);
  const value = fieldsOf(fieldsOf(process)['env'])[name];
  return typeof value === 'string' ? value : undefined;
}

function addressOf(given: string | undefined): string {
  if (!given) throw new RasError('Give baseUrl, or set RAS_API_URL.');
  if (!/^https?:\/\//.test(given) || !URL.canParse(given)) {
    throw new RasError(`"${given}" is no address that begins with https:// or http://.`);
  }
  return given.replace(/\/+$/, '');
}
