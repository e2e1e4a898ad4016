import { raw, type Db } from '#lib/database/index.ts';
import { placeOf, SEALED_COLUMNS } from './rotate.ts';
import { SecretUnreadable, type SecretBox } from './secret-box.ts';

/** Thrown when the encryption keys of this process open none of the stored secrets. */
export class UnknownKey extends Error {
  constructor() {
    super(
      'ENCRYPTION_KEY does not open what is stored in this database, and neither does ENCRYPTION_KEY_PREVIOUS. ' +
        'Set the key that the database was sealed under; while keys are rotated, set the other one as ENCRYPTION_KEY_PREVIOUS.',
    );
  }
}

const KNOWN = { table: 'encryption_check', row: 'known', column: 'sealed' };

/**
 * Checks that this process has the key of the database, by a known text that the first process to start seals. Without
 * such a text, this process seals it if one of the stored secrets opens, or if there are none.
 * @throws {UnknownKey}
 */
export async function checkEncryptionKey(db: Db, secrets: SecretBox): Promise<void> {
  const known = await readKnown(db);
  if (known !== undefined) return assertOpens(secrets, [known]);
  assertOpens(secrets, await sampleSecrets(db));
  await db.run`
    insert into encryption_check (id, sealed) values (${KNOWN.row}, ${secrets.seal('known', KNOWN)})
    on conflict (id) do nothing
  `;
  // Read the text again, because another process may have sealed it first, under another key.
  const sealed = await readKnown(db);
  if (sealed !== undefined) assertOpens(secrets, [sealed]);
}

interface Sample {
  readonly sealed: string;
  readonly place: typeof KNOWN;
}

async function readKnown(db: Db): Promise<Sample | undefined> {
  const found = await db.row<{ sealed: string }>`select sealed from encryption_check where id = ${KNOWN.row}`;
  return found && { sealed: found.sealed, place: KNOWN };
}

/** Number of texts of each column that are tried. */
const SAMPLE = 50;

async function sampleSecrets(db: Db): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const where of SEALED_COLUMNS) {
    const column = raw(where.column);
    const rows = await db.rows<Record<string, string | Buffer> & { sealed: string }>`
      select ${raw(where.keys.map((name) => `"${name}"`).join(', '))}, ${column} as sealed from ${raw(where.table)}
      where ${column} <> '' limit ${SAMPLE}
    `;
    for (const row of rows) {
      const keys = where.keys.map((name) => row[name] ?? '');
      samples.push({ sealed: row.sealed, place: placeOf(where, keys) });
    }
  }
  return samples;
}

/**
 * Checks that at least one text opens. Not all texts must open, because an old interrupted rotation may have left texts
 * that no key opens.
 */
function assertOpens(secrets: SecretBox, samples: readonly Sample[]): void {
  const opens = samples.some(({ sealed, place }) => {
    try {
      secrets.open(sealed, place);
      return true;
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      return false;
    }
  });
  if (samples.length > 0 && !opens) throw new UnknownKey();
}
