import { execute, sql, type Db } from '#lib/database/index.ts';
import { routineId } from './bulk.ts';

/** Loads what a project has besides routines and runs, `count` of each, in the shape that the product writes. */
export async function loadResources(
  db: Db,
  { projectId, count }: { projectId: string; count: number },
): Promise<void> {
  const number = sql`lpad(n::text, 26, '0')`;
  const each = sql`generate_series(0, ${count}::bigint - 1) n`;
  await execute(
    db,
    sql`
      insert into skills (id, project_id, name, instructions)
      select 'skl_' || ${number}, ${projectId}, 'Skill ' || n, repeat('Write in plain words. ', 50) from ${each}
    `,
  );
  await execute(
    db,
    sql`
      insert into api_keys (id, project_id, name, prefix, hash, scopes)
      select 'key_' || ${number}, ${projectId}, 'Key ' || n, 'b' || lpad(n::text, 7, '0'), sha256(n::text::bytea),
        '{models:read,routines:read,runs:read,runs:write}'
      from ${each}
    `,
  );
  await execute(
    db,
    sql`
      insert into connections (id, project_id, kind, name, url, auth, state, server)
      select 'con_' || ${number}, ${projectId}, 'tool_server', 'Tools ' || n, 'https://tools.example.com/mcp', 'none',
        'ready', '{"name": "tools", "title": null, "version": "1", "protocolVersion": "2026-07-28"}'
      from ${each}
    `,
  );
  await execute(
    db,
    sql`
      insert into tool_policies (id, project_id, routine_id, connection_id, tool_name, description, input_schema,
        definition_hash)
      select 'pol_' || ${number}, ${projectId}, ${routineId(0)}, 'con_' || ${number}, 'lookup', 'Looks something up.',
        '{"type": "object", "properties": {"query": {"type": "string"}}}', repeat('0', 64)
      from ${each}
    `,
  );
}
