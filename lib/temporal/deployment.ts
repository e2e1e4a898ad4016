import type { Client, OperatorService, WorkflowService } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Config } from '#lib/config/index.ts';
import { SEARCH_ATTRIBUTE } from './names.ts';

const { TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

/** A release in Worker Versioning: one build of a worker deployment. */
export interface Build {
  readonly deploymentName: string;
  readonly buildId: string;
}

/**
 * Names the worker deployment of an installation. Without a configured name, each task queue has a separate deployment.
 */
export function deploymentNameOf(config: Pick<Config, 'WORKER_DEPLOYMENT_NAME' | 'TEMPORAL_TASK_QUEUE'>): string {
  return config.WORKER_DEPLOYMENT_NAME ?? config.TEMPORAL_TASK_QUEUE.replaceAll(/[^\w-]/g, '-');
}

/** Returns the build on which the workflows of a task queue start; undefined when workers without a build take them. */
export async function currentBuildOf(
  service: WorkflowService,
  { namespace, taskQueue }: { namespace: string; taskQueue: string },
): Promise<Build | undefined> {
  const { versioningInfo } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPE_WORKFLOW,
  });
  const { deploymentName, buildId } = versioningInfo?.currentDeploymentVersion ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}

/**
 * Makes new workflows start on this build or, without a build, on workers that have none. Open workflows stay on their
 * build.
 * @throws the server's refusal while the build does not poll every task queue that the current build polls
 */
export async function setCurrentBuild(
  { workflowService, options }: Client,
  deploymentName: string,
  buildId: string | undefined,
): Promise<void> {
  await workflowService.setWorkerDeploymentCurrentVersion({
    namespace: options.namespace,
    deploymentName,
    buildId: buildId ?? '',
    identity: options.identity,
  });
}

/** Lists the builds of a deployment that the server still knows, the newest first. */
export async function buildsOf({ workflowService, options }: Client, deploymentName: string): Promise<KnownBuild[]> {
  const { workerDeploymentInfo: found } = await workflowService.describeWorkerDeployment({
    namespace: options.namespace,
    deploymentName,
  });
  const current = found?.routingConfig?.currentDeploymentVersion?.buildId;
  return (found?.versionSummaries ?? [])
    .toSorted((a, b) => Number(b.createTime?.seconds ?? 0) - Number(a.createTime?.seconds ?? 0))
    .map(({ deploymentVersion, firstActivationTime }) => ({
      buildId: deploymentVersion?.buildId ?? '',
      isCurrent: deploymentVersion?.buildId === current,
      isNew: firstActivationTime == null,
    }));
}

export interface KnownBuild {
  readonly buildId: string;
  readonly isCurrent: boolean;
  /** True when the build has never been current. */
  readonly isNew: boolean;
}

/** Counts the open workflows that stay on a build, by the visibility store, which may be seconds behind. */
export async function openWorkflowsOf(client: Client, { deploymentName, buildId }: Build): Promise<number> {
  const version = `${deploymentName}:${buildId}`;
  const { count } = await client.workflow.count(
    `TemporalWorkerDeploymentVersion = '${version}' AND ExecutionStatus = 'Running'`,
  );
  return count;
}

const { INDEXED_VALUE_TYPE_KEYWORD } = proto.temporal.api.enums.v1.IndexedValueType;

/** Names of the search attributes of workflows. All are keywords. */
export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = Object.values(SEARCH_ATTRIBUTE).map(({ name }) => name);

/**
 * Registers the search attributes that the namespace lacks; without them the server refuses to start a workflow. Throws
 * if the credentials do not allow it; in Temporal Cloud an administrator registers them.
 * @returns the names registered now
 */
export async function ensureSearchAttributes(operator: OperatorService, namespace: string): Promise<readonly string[]> {
  const { customAttributes } = await operator.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTE_NAMES.filter((name) => !(name in (customAttributes ?? {})));
  if (missing.length > 0) {
    await operator.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, INDEXED_VALUE_TYPE_KEYWORD])),
    });
  }
  return missing;
}
