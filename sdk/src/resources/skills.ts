import type { Call } from '../call.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { Body, CallOptions, ChangeOptions, CreateOptions, Data, Item, PutOptions, Query } from '../types.ts';

export class Skills {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the skills of the project, and then the curated ones. */
  list(query: Query<'listSkills'> = {}, options?: CallOptions): Pages<Item<'listSkills'>> {
    return this.#transport.list('listSkills', { ...options, query });
  }

  create(body: Body<'createSkill'>, options?: CreateOptions): Call<Data<'createSkill'>> {
    return this.#transport.send('createSkill', { ...options, body });
  }

  read(skillId: string, options?: CallOptions): Call<Data<'readSkill'>> {
    return this.#transport.send('readSkill', { ...options, ids: [skillId] });
  }

  update(skillId: string, body: Body<'updateSkill'>, options?: ChangeOptions): Call<Data<'updateSkill'>> {
    return this.#transport.send('updateSkill', { ...options, ids: [skillId], body });
  }

  /** Creates or replaces the skill with your key. */
  put(externalKey: string, body: Body<'putSkill'>, options?: PutOptions): Call<Data<'putSkill'>> {
    return this.#transport.send('putSkill', { ...options, ids: [externalKey], body });
  }

  delete(skillId: string, options?: CallOptions): Call<Data<'deleteSkill'>> {
    return this.#transport.send('deleteSkill', { ...options, ids: [skillId] });
  }

  revisions(
    skillId: string,
    query: Query<'listSkillRevisions'> = {},
    options?: CallOptions,
  ): Pages<Item<'listSkillRevisions'>> {
    return this.#transport.list('listSkillRevisions', { ...options, ids: [skillId], query });
  }
}

/** A text of the project that every routine with `facts: true` receives. */
export class Facts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  read(projectId: string, options?: CallOptions): Call<Data<'readFacts'>> {
    return this.#transport.send('readFacts', { ...options, ids: [projectId] });
  }

  write(projectId: string, body: Body<'writeFacts'>, options?: ChangeOptions): Call<Data<'writeFacts'>> {
    return this.#transport.send('writeFacts', { ...options, ids: [projectId], body });
  }

  versions(
    projectId: string,
    query: Query<'listFactsVersions'> = {},
    options?: CallOptions,
  ): Pages<Item<'listFactsVersions'>> {
    return this.#transport.list('listFactsVersions', { ...options, ids: [projectId], query });
  }

  version(projectId: string, version: number, options?: CallOptions): Call<Data<'readFactsVersion'>> {
    return this.#transport.send('readFactsVersion', { ...options, ids: [projectId, version] });
  }
}
