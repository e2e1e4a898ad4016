import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });

/** The least that does something: what runs are measured against. */
export async function oneActivity(): Promise<void> {
  await nothing();
}

/** Nothing at all; started, and perhaps never worked on. */
export async function empty(): Promise<void> {}
