import { test as base } from 'vitest';
import { signUp } from './people.ts';
import { sharedService, startService, type ServiceOptions } from './service.ts';

/**
 * Makes tests with two people of the file's own, each signed up on first use, at the service that the files of a
 * process share. A file with configuration of its own gets a service of its own.
 */
export function serviceTest(options: ServiceOptions = {}) {
  return base
    .extend('options', { scope: 'file' }, options)
    .extend('service', { scope: 'file' }, async ({ options: given }, { onCleanup }) => {
      if (given.env === undefined && given.own !== true) {
        return sharedService({ worker: given.worker ?? false });
      }
      const service = await startService(given);
      onCleanup(() => service.close());
      return service;
    })
    .extend('ada', { scope: 'file' }, ({ service }) => signUp(service))
    .extend('bob', { scope: 'file' }, ({ service }) => signUp(service))
    .extend('key', { scope: 'file' }, ({ ada }) => ada.key())
    .extend('bobsKey', { scope: 'file' }, ({ bob }) => bob.key());
}
