import { expect, test } from 'vitest';
import { z } from 'zod';
import { validate } from '#api/http/validate.ts';

const schema = z.strictObject({
  password: z.string().min(10),
  name: z.string().min(1).max(5),
  email: z.email(),
  steps: z.number().min(1).max(100),
  share: z.number().gt(0),
  skills: z.array(z.string()).max(1),
  plan: z.enum(['free', 'pro']),
  zone: z.string().regex(/^[A-Z]/, 'expected an IANA name'),
});

test('faults are said in plain words, and in the words of the schema where it has some', () => {
  const fault = () =>
    validate(schema, {
      password: 'short',
      name: '',
      email: 'nobody',
      steps: 101,
      share: 0,
      skills: ['a', 'b'],
      plan: 'gold',
      zone: 'berlin',
    });
  expect(fault).toThrow(
    [
      'password: must have at least 10 characters',
      'name: must not be empty',
      'email: must be an e-mail address',
      'steps: must be at most 100',
      'share: must be more than 0',
      'skills: must have at most 1 item',
      'plan: must be one of free, pro',
      'zone: expected an IANA name',
    ].join('; '),
  );
});
