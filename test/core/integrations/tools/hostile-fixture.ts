import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { sharedService, type Service } from '#test/support/service.ts';

export interface HostileFixture {
  readonly service: Service;
  readonly hostile: HostileTools;
  readonly person: Person;
  /** An API key of the person's project. */
  readonly key: ApiClient;
  close(): Promise<void>;
}

/** Starts the hostile tool server beside the service that files share; signs up a user. */
export async function startHostileFixture(): Promise<HostileFixture> {
  const [service, hostile] = await Promise.all([sharedService({ worker: true }), startHostileTools()]);
  const person = await signUp(service);
  const key = await person.key();
  return {
    service,
    hostile,
    person,
    key,
    close: () => hostile.stop(),
  };
}
