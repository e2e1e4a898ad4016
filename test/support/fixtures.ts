import { test as base } from 'vitest';
import { signUp } from './people.ts';
import { startService, type ServiceOptions } from './service.ts';

/** Makes tests with a service of their file's own and two people who use it; each is there once a test asks for it. */
export function serviceTest(options: ServiceOptions = {}) {
  return base
    .extend('options', { scope: 'file' }, options)
    .extend('service', { scope: 'file' }, async ({ options: given }, { onCleanup }) => {
      const service = await startService(given);
      onCleanup(() => service.close());
      return service;
    })
    .extend('ada', { scope: 'file' }, ({ service }) => signUp(service))
    .extend('bob', { scope: 'file' }, ({ service }) => signUp(service))
    .extend('key', { scope: 'file' }, ({ ada }) => ada.key())
    .extend('bobsKey', { scope: 'file' }, ({ bob }) => bob.key());
}
