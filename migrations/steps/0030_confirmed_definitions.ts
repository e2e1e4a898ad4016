import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A person who is asked again sees what has changed since. Where the definition is still the confirmed one it is
  // known; what was confirmed of those that have changed already is gone.
  await knex.raw(`
    alter table tool_policies add column confirmed_definition jsonb;
    update tool_policies set confirmed_definition = jsonb_build_object('title', title, 'description', description,
      'inputSchema', input_schema, 'outputSchema', output_schema, 'annotations', annotations)
    where confirmed_hash = definition_hash;
  `);
}
