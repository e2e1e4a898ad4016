import { fieldsOf } from '../../failure.ts';
import { fiveFields, type Job, type Jobs, objectsOf, type Skipped, textOf, type Timing } from './jobs.ts';

type Fields = Readonly<Record<string, unknown>>;

const TRIGGERS = new Set(['n8n-nodes-base.scheduleTrigger', 'n8n-nodes-base.cron']);
const AGENT = /^@n8n\/n8n-nodes-langchain\.(?:agent|chainLlm|openAi|anthropic|googleGemini)$/;
const MAX_NODES = 1_000;

/**
 * Reads a workflow that n8n exported, or a list of them. Each rule of each schedule trigger becomes a routine with the
 * texts of the agents that it leads to. The form of the rules: n8n-io/n8n,
 * packages/nodes-base/nodes/Schedule/SchedulerInterface.ts and GenericFunctions.ts.
 */
export function readN8n(value: unknown): Jobs {
  const jobs: Job[] = [];
  const skipped: Skipped[] = [];
  for (const workflow of Array.isArray(value) ? objectsOf(value) : [fieldsOf(value)]) {
    const name = textOf(workflow['name']) ?? 'workflow';
    const nodes = objectsOf(workflow['nodes']);
    const triggers = nodes.filter(({ type, disabled }) => TRIGGERS.has(String(type)) && disabled !== true);
    if (nodes.length > MAX_NODES) skipped.push({ name, why: `it has more than ${MAX_NODES} nodes` });
    else if (triggers.length === 0) skipped.push({ name, why: 'it has no schedule trigger' });
    else for (const trigger of triggers) readTrigger(workflow, nodes, trigger, { name, jobs, skipped });
  }
  return { jobs, skipped };
}

function readTrigger(
  workflow: Fields,
  nodes: readonly Fields[],
  trigger: Fields,
  to: { readonly name: string; readonly jobs: Job[]; readonly skipped: Skipped[] },
): void {
  const reached = reachedFrom(workflow, nodes, String(trigger['name']));
  const agents = reached.filter(({ type }) => AGENT.test(String(type)));
  const prompts = agents.map((agent) => promptsOf(agent).join('\n\n')).filter((text) => text !== '');
  const texts = prompts.length > 1 ? prompts.map((text, at) => `Part ${at + 1}:\n\n${text}`) : prompts;
  if (texts.length === 0) {
    to.skipped.push({ name: to.name, why: 'its schedule leads to no agent with a text' });
    return;
  }
  const others = reached.filter((node) => !agents.includes(node));
  const notes = [
    ...(texts.length > 1 ? [`${texts.length} agents in a row became one prompt, with a part for each`] : []),
    ...others.map((node) => `the node "${String(node['name'])}" (${kindOf(node)}) has no counterpart`),
    ...(texts.some((text) => text.includes('{{'))
      ? ['expressions in {{ }} are left as they are: nothing fills them in here']
      : []),
    ...(workflow['active'] === false ? ['it was not active there'] : []),
  ];
  const { timezone } = fieldsOf(workflow['settings']);
  const { rule, triggerTimes } = fieldsOf(trigger['parameters']);
  const rules = objectsOf(fieldsOf(rule)['interval'] ?? fieldsOf(triggerTimes)['item']);
  // A trigger without a rule runs each day at midnight.
  for (const each of rules.length === 0 ? [{ field: 'days' }] : rules) {
    const timing = timingOf(each);
    if ('why' in timing) to.skipped.push({ name: to.name, why: timing.why });
    else {
      to.jobs.push({
        name: to.name,
        schedule: timing.schedule,
        timezone: timezone === 'DEFAULT' ? undefined : textOf(timezone),
        instructions: texts.join('\n\n'),
        notes: [...timing.notes, ...notes],
      });
    }
  }
}

/** Names the type of a node, and the model of a model node. */
function kindOf({ type, parameters }: Fields): string {
  const { model, modelName, modelId } = fieldsOf(parameters);
  const chosen = [model, modelName, modelId].map((each) => textOf(each) ?? textOf(fieldsOf(each)['value']));
  return [String(type), ...chosen.filter((each) => each !== undefined)].join(', ').slice(0, 200);
}

/**
 * Follows the connections of a node: first to the nodes after this node, in their order, then to those that serve them
 * as model, memory or tool.
 */
function reachedFrom(workflow: Fields, nodes: readonly Fields[], start: string): Fields[] {
  const connections = fieldsOf(workflow['connections']);
  const targets = (name: string) =>
    Object.entries(fieldsOf(connections[name])).flatMap(([kind, outputs]) =>
      (Array.isArray(outputs) ? outputs : []).flatMap((output) =>
        objectsOf(output).map(({ node }) => ({ kind, node: String(node) })),
      ),
    );
  const seen = new Set<string>();
  const open = [start];
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    for (const { kind, node } of targets(name)) {
      if (kind !== 'main' || seen.has(node)) continue;
      seen.add(node);
      open.push(node);
    }
  }
  for (const { name } of nodes) {
    if (targets(String(name)).some(({ kind, node }) => kind !== 'main' && seen.has(node))) seen.add(String(name));
  }
  const byName = new Map(nodes.map((node) => [String(node['name']), node]));
  return [...seen].flatMap((name) => {
    const node = byName.get(name);
    return node === undefined || name === start ? [] : [node];
  });
}

function promptsOf({ parameters }: Fields): string[] {
  const { text, prompt, options, systemMessage, messages } = fieldsOf(parameters);
  const listed = objectsOf(fieldsOf(messages)['values'] ?? fieldsOf(messages)['messageValues']);
  const all = [
    fieldsOf(options)['systemMessage'] ?? systemMessage,
    ...listed.map(({ content, message }) => content ?? message),
    text ?? prompt,
  ];
  // Drop the equals sign with which an expression begins.
  return all.flatMap((each) => textOf(each)?.replace(/^=/, '') ?? []);
}

function timingOf(rule: Fields): Timing {
  const number = (name: string, fallback: number) => {
    const value = Number(rule[name] ?? fallback);
    return Number.isInteger(value) && value >= 0 && value <= 59 ? value : fallback;
  };
  const field = textOf(rule['field'] ?? rule['mode']) ?? '';
  const minute = number('triggerAtMinute', number('minute', 0));
  const hour = number('triggerAtHour', number('hour', 0));
  const count = number(`${field}Interval`, 1) || 1;
  const notes = (exact: boolean, schedule: string) => ({
    schedule,
    notes: exact ? [] : [`every ${count} ${field} is no cron schedule: chose ${schedule}`],
  });
  switch (field) {
    case 'cronExpression':
    case 'custom':
      return fiveFields(rule['expression'] ?? rule['cronExpression']);
    case 'minutes':
    case 'everyMinute':
      return notes(60 % count === 0, count === 1 ? '* * * * *' : `*/${count} * * * *`);
    case 'hours':
    case 'everyHour':
      return notes(24 % count === 0, `${minute} ${count === 1 ? '*' : `*/${count}`} * * *`);
    case 'days':
    case 'everyDay':
      return notes(count === 1, `${minute} ${hour} ${count === 1 ? '*' : `*/${count}`} * *`);
    case 'weeks':
    case 'everyWeek': {
      const days = [rule['triggerAtDay'] ?? rule['weekday'] ?? []].flat().map(Number);
      const on = days.filter((day) => day >= 0 && day <= 7).join(',') || '*';
      return notes(count === 1, `${minute} ${hour} * * ${on}`);
    }
    case 'months':
    case 'everyMonth': {
      const day = number('triggerAtDayOfMonth', number('dayOfMonth', 1)) || 1;
      return notes(12 % count === 0, `${minute} ${hour} ${day} ${count === 1 ? '*' : `*/${count}`} *`);
    }
    case 'seconds':
      return { why: 'it runs every few seconds; a minute is the shortest here' };
    default:
      return { why: `its rule "${field.slice(0, 40)}" is not known` };
  }
}
