import { expect, test } from 'vitest';
import { z } from 'zod';
import { idOf } from '#api/http/schemas.ts';
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
      email: 'no-address',
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

test('ids and dates of a wrong form are described without a pattern', () => {
  const formed = z.strictObject({ projectId: idOf('project'), runId: idOf('run'), day: z.iso.date() });
  expect(() =>
    validate(formed, { projectId: 'Website', runId: 'prj_01kx3k9y6wfd8r0v5m2c7t4q5d', day: '31/01/2027' }),
  ).toThrow(
    [
      'projectId: must be an id: prj_ and 26 characters',
      'runId: must be an id: run_ and 26 characters',
      'day: must be a date like 2027-01-31',
    ].join('; '),
  );
});

test('the error for a value of a wrong type names the right type, and that for a missing one says that it is required', () => {
  const typed = z.strictObject({
    model: z.strictObject({}),
    skills: z.array(z.string()),
    steps: z.int(),
    sure: z.boolean(),
    variables: z.record(z.string(), z.string()),
    limit: z.coerce.number(),
    name: z.string(),
  });
  const value = {
    model: 'fixture/writer-small',
    skills: 'seo-audit',
    steps: null,
    sure: 'true',
    variables: [],
    limit: 'abc',
  };
  expect(() => validate(typed, value)).toThrow(
    [
      'model: expected an object, got a string',
      'skills: expected an array, got a string',
      'steps: required',
      'sure: expected a boolean, got a string',
      'variables: expected an object, got an array',
      'limit: expected a number',
      'name: required',
    ].join('; '),
  );
  expect(() => validate(typed, [])).toThrow('body: expected an object, got an array');
});

test('that a value is empty is said once', () => {
  const named = z.strictObject({ name: z.string().min(1).regex(/^x/, 'must begin with x') });
  expect(() => validate(named, { name: '' })).toThrow(/^name: must not be empty$/);
});
