import { expect, test } from 'vitest';
import { z } from 'zod';
import { present } from '#api/http/present.ts';
import { timestamp } from '#lib/schemas.ts';

const person = z.strictObject({ id: z.string(), name: z.string() });
const team = z
  .strictObject({
    id: z.string(),
    createdAt: timestamp,
    endedAt: timestamp.nullable(),
    owner: person.nullable(),
    members: z.array(person),
    labels: z.record(z.string(), z.unknown()),
    to: z.union([z.literal('all'), z.array(z.string())]),
    note: z.string().optional(),
  })
  .meta({ id: 'Team' });

const grace = { id: 'p1', name: 'Grace', passwordHash: 'secret' };
const row = {
  id: 't1',
  sealed: 'secret',
  createdAt: new Date('2027-01-01T00:00:00.000Z'),
  endedAt: null,
  owner: grace,
  members: [grace, { id: 'p2', name: 'Ada' }],
  labels: { any: { thing: 1 } },
  to: ['p1'],
};

test('a response has the fields that its schema names, at every depth, and dates as text', () => {
  expect(present(team, row)).toStrictEqual({
    id: 't1',
    createdAt: '2027-01-01T00:00:00.000Z',
    endedAt: null,
    owner: { id: 'p1', name: 'Grace' },
    members: [
      { id: 'p1', name: 'Grace' },
      { id: 'p2', name: 'Ada' },
    ],
    labels: { any: { thing: 1 } },
    to: ['p1'],
  });
  expect(JSON.stringify(present(team, row))).not.toContain('secret');
});

test('presented rows fit their schema', () => {
  expect(team.parse(present(team, row))).toEqual(present(team, row));
  expect(present(team, { ...row, owner: null, note: 'x' })).toMatchObject({
    owner: null,
    note: 'x',
  });
});

test('a list is presented item by item, and the row stays as it is', () => {
  const before = structuredClone(row);
  expect(present(z.array(team), [row, row])).toHaveLength(2);
  expect(row).toEqual(before);
});

test('a schema is walked once, however many rows it presents', () => {
  let walks = 0;
  const shape = { id: z.string() };
  const counted = z.strictObject(shape);
  const { def } = counted;
  const given = def.shape;
  Object.defineProperty(def, 'shape', {
    get() {
      walks += 1;
      return given;
    },
  });
  for (let turn = 0; turn < 1_000; turn += 1) present(counted, { id: `${turn}` });
  expect(walks).toBe(1);
});
