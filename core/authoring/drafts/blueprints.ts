import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { unknownPlaceholders } from '#core/authoring/definition/index.ts';
import { NEEDS, type SkillCatalogue } from '#core/authoring/skills/index.ts';
import { invalid, type Fault } from '#lib/errors.ts';
import { readSchedulePhrase } from '#lib/schedule/index.ts';

export const SLOT_TYPES = ['text', 'list', 'address', 'number', 'choice'] as const;

const slot = z.strictObject({
  /** Name of the slot's variable in the instructions. */
  name: z.string().regex(/^[a-z][a-z0-9]*$/),
  label: z.string().max(60),
  type: z.enum(SLOT_TYPES),
  /** An answer that a person could give. */
  sample: z.string().max(200),
  /** Bounds of a number, both included. */
  least: z.number().int().default(0),
  most: z.number().int().default(1_000_000),
  choices: z.array(z.string()).default([]),
});
export type Slot = Readonly<z.output<typeof slot>>;

const blueprint = z.strictObject({
  id: z.string().regex(/^[a-z]+(-[a-z]+)*$/),
  job: z.string(),
  name: z.string().max(60),
  promise: z.string().max(160),
  /** Time of the runs, in words. */
  when: z.string(),
  skills: z.array(z.string()),
  /** Abilities that the tools of the routine should offer. */
  needs: z.array(z.enum(NEEDS)),
  instructions: z.string(),
  slots: z.array(slot).min(1),
});

/** A prepared routine that a few answers complete. */
export interface Blueprint extends Readonly<z.output<typeof blueprint>> {
  /** The times of `when` as five cron fields. */
  readonly schedule: string;
}

const FILE = fileURLToPath(new URL('blueprints.yaml', import.meta.url));

/**
 * Reads and checks all blueprints, once, when the process starts. @throws an error that names the first broken
 * blueprint
 */
export async function loadBlueprints({ find }: Pick<SkillCatalogue, 'find'>): Promise<readonly Blueprint[]> {
  const all = z.array(blueprint).parse(parseYaml(await readFile(FILE, 'utf8')));
  return all.map((each) => {
    const fault = (message: string) => new Error(`blueprints.yaml: ${each.id}: ${message}`);
    const read = readSchedulePhrase(each.when);
    if (read.kind !== 'read') throw fault(`"${each.when}" is no schedule`);
    const unknown = each.skills.filter((slug) => find(slug) === undefined);
    if (unknown.length > 0) throw fault(`no skill ${unknown.join(', ')}`);
    const variables = Object.fromEntries(each.slots.map(({ name, sample }) => [name, sample]));
    const open = unknownPlaceholders(each.instructions, variables, false);
    if (open.length > 0) throw fault(`no slot ${open.join(', ')}`);
    for (const one of each.slots) {
      const message = slotFault(one, one.sample);
      if (message !== undefined) throw fault(`the sample of ${one.name} ${message}`);
    }
    return { ...each, schedule: read.schedule };
  });
}

/** Fills the slots of a blueprint. @throws {AppError} `invalid_request` that names the blueprint or each faulty slot */
export function fillBlueprint(
  blueprints: readonly Blueprint[],
  id: string,
  values: Readonly<Record<string, string>>,
): { readonly blueprint: Blueprint; readonly variables: Readonly<Record<string, string>> } {
  const found = blueprints.find((each) => each.id === id);
  if (found === undefined) throw invalid([{ path: 'blueprint', message: `there is no blueprint ${id}` }]);
  const { slots } = found;
  const faults: Fault[] = Object.keys(values)
    .filter((name) => !slots.some((each) => each.name === name))
    .map((name) => ({ path: `values.${name}`, message: `the blueprint has no slot of this name` }));
  const variables = slots.map((each) => {
    const value = (values[each.name] ?? '').trim();
    const message = slotFault(each, value);
    if (message !== undefined) faults.push({ path: `values.${each.name}`, message });
    return [each.name, value];
  });
  if (faults.length > 0) throw invalid(faults);
  return { blueprint: found, variables: Object.fromEntries(variables) };
}

function slotFault({ type, choices, least, most }: Slot, value: string): string | undefined {
  if (value === '') return 'is missing';
  if (type !== 'list' && value.includes('\n')) return 'must be one line';
  if (type === 'address' && !/^https?:\/\/[^\s/.]+(?:\.[^\s/.]+)+(?:[/?#]\S*)?$/.test(value)) {
    return 'must be an address that starts with https://';
  }
  if (type === 'number' && !(/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most)) {
    return `must be a whole number from ${least} to ${most}`;
  }
  if (type === 'choice' && !choices.includes(value)) return `must be one of ${choices.join(', ')}`;
  return undefined;
}
