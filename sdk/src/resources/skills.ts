import type { Call } from '../call.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { Body, CallOptions, CreateOptions, Data, Item, Query } from '../types.ts';

export class Skills {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The skills of the project, and then the curated ones. */
  list(query: Query<'listSkills'> = {}, options?: CallOptions): Pages<Item<'listSkills'>> {
    return this.#transport.list('listSkills', { ...options, query });
  }

  create(body: Body<'createSkill'>, options?: CreateOptions): Call<Data<'createSkill'>> {
    return this.#transport.send('createSkill', { ...options, body });
  }

  read(skillId: string, options?: CallOptions): Call<Data<'readSkill'>> {
    return this.#transport.send('readSkill', { ...options, ids: [skillId] });
  }

  update(
    skillId: string,
    body: Body<'updateSkill'>,
    options?: CallOptions,
  ): Call<Data<'updateSkill'>> {
    return this.#transport.send('updateSkill', { ...options, ids: [skillId], body });
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
