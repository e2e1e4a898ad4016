import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';

export interface HostileFixture {
  readonly service: Service;
  readonly hostile: HostileTools;
  readonly person: Person;
  /** An API key of the person's project. */
  readonly key: ApiClient;
  close(): Promise<void>;
}

/** Starts the service with its workers, and the hostile tool server; signs up a user. */
export async function startHostileFixture(): Promise<HostileFixture> {
  const [service, hostile] = await Promise.all([startService({ worker: true }), startHostileTools()]);
  const person = await signUp(service);
  const key = await person.key();
  return {
    service,
    hostile,
    person,
    key,
    async close() {
      await hostile.stop();
      await service.close();
    },
  };
}
