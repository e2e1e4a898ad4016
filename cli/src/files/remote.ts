import type { Ras, Shape } from 'routine-automation-sdk';
import { contentOfRemote, type Content, type KindName } from './kinds.ts';

/** A routine or skill of the service. */
export interface RemoteItem extends Summary {
  /** Its key was given here, and the service does not know it yet. */
  readonly isNew: boolean;
  /** Of a routine. */
  readonly state: string | undefined;
  /** An active routine whose scheduled runs take older texts of its skills than there are. */
  readonly isBehind: boolean;
  /** It was changed otherwise since the files were applied. */
  readonly hasDrifted: boolean;
  readonly etag: string | undefined;
  readonly content: Content;
}

/** A routine or skill as a list shows it. */
export interface Summary {
  readonly kind: KindName;
  readonly id: string;
  readonly key: string | null;
  readonly name: string;
  readonly isManaged: boolean;
}

/** The routines and custom skills of a project, without those that are archived or deleted. */
export class RemoteProject {
  readonly #ras: Ras;
  readonly summaries: readonly Summary[];
  /** Slugs of curated skills, former ones too. */
  readonly curated: ReadonlySet<string>;
  /** Keys that were given here, by id. */
  readonly #given = new Map<string, string>();

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

  /** Reads some of them whole, a few at a time, in the order in which they are given. */
  async read(wanted: readonly Summary[]): Promise<RemoteItem[]> {
    const items: RemoteItem[] = [];
    for (let at = 0; at < wanted.length; at += AT_ONCE) {
      const some = wanted.slice(at, at + AT_ONCE);
      items.push(...(await Promise.all(some.map((each) => this.readOne(each)))));
    }
    return items;
  }

  async readOne({ kind, id }: Pick<Summary, 'kind' | 'id'>): Promise<RemoteItem> {
    const { data, etag } =
      kind === 'routine'
        ? await this.#ras.routines.read(id).withResponse()
        : await this.#ras.skills.read(id).withResponse();
    const summary = summaryOf(kind, { ...data, id });
    return {
      ...summary,
      key: summary.key ?? this.#given.get(id) ?? null,
      isNew: summary.key === null,
      state: 'state' in data ? data.state : undefined,
      hasDrifted: data.driftedAt !== null,
      isBehind: 'skillsBehind' in data && data.skillsBehind.length > 0,
      etag,
      content: contentOfRemote(kind, data, (reference) => this.#keyOf(reference)),
    };
  }

  /** Returns the key of a custom skill that has one, and any other reference as it is. */
  #keyOf(reference: string): string {
    const given = this.#given.get(reference);
    return this.#skill(({ id }) => id === reference)?.key ?? given ?? reference;
  }

  /** Gives a key to what has none, before the service is told. */
  give({ id }: Summary, key: string): void {
    this.#given.set(id, key);
  }

  /** Returns the id of the custom skill with this key, or the reference as it is: a slug, or an id. */
  referenceOf(key: string): string {
    return this.#skill((each) => each.key === key)?.id ?? key;
  }

  #skill(isWanted: (summary: Summary) => boolean): Summary | undefined {
    return this.summaries.find((each) => each.kind === 'skill' && isWanted(each));
  }
}

const PAGE = 200;
const AT_ONCE = 8;

function summaryOf(
  kind: KindName,
  { id, externalKey, managedBy, name }: Pick<Shape<'RoutineSummary'>, 'id' | 'externalKey' | 'managedBy' | 'name'>,
): Summary {
  return { kind, id, key: externalKey, name, isManaged: managedBy === 'files' };
}
