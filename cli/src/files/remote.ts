import type { Ras, Shape } from 'routine-automation-sdk';
import { CliError } from '../failure.ts';
import type { KindName } from './keys.ts';
import { contentOfRemote, type Content } from './kinds.ts';

/** A routine or skill of the service. */
export interface RemoteItem extends Summary {
  /** True when the key is new, so that the service does not know it yet. */
  readonly isNew: boolean;
  /** State of a routine; undefined for a skill. */
  readonly state: string | undefined;
  /** True when the routine is active and its scheduled runs take outdated texts of its skills. */
  readonly isBehind: boolean;
  /** The last change outside the files since the last apply. */
  readonly drift: Drift | null;
  readonly etag: string | undefined;
  readonly content: Content;
}

export interface Drift {
  readonly at: string;
  readonly by: string;
}

/** A routine or skill as listed. */
export interface Summary {
  readonly kind: KindName;
  readonly id: string;
  readonly key: string | null;
  readonly name: string;
  readonly isManaged: boolean;
  /** Name of the folder that manages the routine or skill. */
  readonly owner: string | null;
}

/** The routines and custom skills of a project, without those that are archived or deleted. */
export class RemoteProject {
  readonly #ras: Ras;
  /** Routines and skills as listed, each with its new key if it got one. */
  summaries: readonly Summary[];
  /** Slugs of curated skills, including former slugs. */
  readonly curated: ReadonlySet<string>;
  readonly #given = new Set<string>();

  private constructor(ras: Ras, summaries: readonly Summary[], curated: ReadonlySet<string>) {
    this.#ras = ras;
    this.summaries = summaries;
    this.curated = curated;
  }

  static async list(ras: Ras): Promise<RemoteProject> {
    const summaries: Summary[] = [];
    const curated = new Set<string>();
    for await (const skill of ras.skills.list({ limit: PAGE })) {
      if (skill.id !== null) summaries.push(summaryOf('skill', { ...skill, id: skill.id }));
      else for (const slug of [skill.slug, ...skill.formerly]) if (slug !== null) curated.add(slug);
    }
    for await (const routine of ras.routines.list({ limit: PAGE })) {
      if (routine.archivedAt === null) summaries.push(summaryOf('routine', routine));
    }
    return new RemoteProject(ras, summaries, curated);
  }

  find(kind: KindName, key: string): Summary | undefined {
    return this.summaries.find((each) => each.kind === kind && each.key === key);
  }

  /** Reads the full routines and skills of some summaries, a few at a time, in the given order. */
  read(wanted: readonly Summary[]): Promise<RemoteItem[]> {
    return inGroups(wanted, (each) => this.readOne(each));
  }

  async readOne({ kind, id }: Pick<Summary, 'kind' | 'id'>): Promise<RemoteItem> {
    const { data, etag } =
      kind === 'routine'
        ? await this.#ras.routines.read(id).withResponse()
        : await this.#ras.skills.read(id).withResponse();
    const summary = summaryOf(kind, { ...data, id });
    const given = this.#given.has(id) ? this.summaries.find((each) => each.id === id)?.key : undefined;
    const { driftedAt: at, driftedBy } = data;
    return {
      ...summary,
      key: given ?? summary.key,
      isNew: summary.key === null,
      state: 'state' in data ? data.state : undefined,
      drift: at === null ? null : { at, by: driftedBy?.name ?? driftedBy?.id ?? 'the service' },
      isBehind: 'skillsBehind' in data && data.skillsBehind.length > 0,
      etag,
      content: contentOfRemote(kind, data, (reference) => this.#keyOf(reference)),
    };
  }

  /** Returns the key of a custom skill that has one; any other reference unchanged. */
  #keyOf(reference: string): string {
    return this.summaries.find(({ id }) => id === reference)?.key ?? reference;
  }

  /** Gives a new key to a routine or skill before the service knows it. */
  give({ id }: Summary, key: string): void {
    this.#given.add(id);
    this.summaries = this.summaries.map((each) => (each.id === id ? { ...each, key } : each));
  }

  /** Returns the id of the custom skill with this key; a slug or an id unchanged. */
  referenceOf(key: string): string {
    return this.find('skill', key)?.id ?? key;
  }
}

/**
 * Returns the id of the project of the API key.
 * @param project the project that the files name, by id or name; null for any
 * @throws {CliError} if the API key belongs to another project
 */
export async function projectIdOf(ras: Ras, project: string | null): Promise<string> {
  const { id, name } = await ras.project.read();
  if (project === null || project === (project.startsWith('prj_') ? id : name)) return id;
  throw new CliError(`These files are for the project "${project}", and the API key is for "${name}" (${id}).`, {
    hint: 'Choose another sign-in with --profile, another environment with --env, or change `project` in ras.yaml.',
  });
}

const PAGE = 200;
const AT_ONCE = 8;

/** Calls a function for each item of a list, a few at a time, and returns the results in order. */
export async function inGroups<T, R>(list: readonly T[], act: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < list.length; at += AT_ONCE) {
    results.push(...(await Promise.all(list.slice(at, at + AT_ONCE).map(act))));
  }
  return results;
}

type Named = Pick<Shape<'RoutineSummary'>, 'id' | 'externalKey' | 'managedBy' | 'managedFrom' | 'name'>;

function summaryOf(kind: KindName, { id, externalKey, managedBy, managedFrom, name }: Named): Summary {
  return { kind, id, key: externalKey, name, isManaged: managedBy === 'files', owner: managedFrom };
}
