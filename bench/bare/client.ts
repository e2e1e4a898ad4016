import { Client, Connection } from '@temporalio/client';

/** The SDK's client as its documentation shows it: what baselines start their workflows with. */
export async function bareClient(address: string): Promise<Client> {
  return new Client({ connection: await Connection.connect({ address }) });
}
