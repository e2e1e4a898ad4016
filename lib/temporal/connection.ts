import { readFile } from 'node:fs/promises';
import {
  Client,
  OperatorService,
  WorkflowService,
  type ConnectionLike,
  type Metadata,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

// Import by path: the entry of the package also loads the bundler of workflows, a compiler and a packer, and an API
// needs none of these.
import { NativeConnection } from '@temporalio/worker/lib/connection.js';
import type { Config } from '#lib/config/index.ts';
import { NO_TRACING, type Tracing } from '#lib/tracing.ts';
import { TRACE_HEADER } from './names.ts';

/** Opens a client that connects on first use, so that the API starts and serves while Temporal is away. */
export async function openTemporal(settings: TemporalSettings, tracing: Tracing = NO_TRACING): Promise<Client> {
  const connection = new LazyConnection(await connectionOptions(settings));
  return new Client({
    connection,
    namespace: settings.TEMPORAL_NAMESPACE,
    interceptors: { workflow: tracing.enabled ? [traceStarts(tracing)] : [] },
  });
}

type Service = 'workflowService' | 'operatorService';
type RpcImplementation = Parameters<typeof WorkflowService.create>[0];
type RpcCall = Parameters<RpcImplementation>;

/**
 * A native connection (docs/adr/0008), made on first use. If that fails, the next caller tries again. An open
 * connection reconnects by itself.
 */
class LazyConnection implements ConnectionLike {
  readonly plugins = [];
  readonly workflowService = WorkflowService.create(this.#forward('workflowService'));
  readonly operatorService = OperatorService.create(this.#forward('operatorService'));
  readonly #options: ConnectionOptions;
  #connecting: Promise<NativeConnection> | undefined;
  #isOpen = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async ensureConnected(): Promise<void> {
    await this.#connected();
  }

  /**
   * Limits all of `work` by the deadline. Temporal's native library would apply the deadline to each of its attempts.
   * @throws {Error} at the deadline
   */
  async withDeadline<T>(deadline: number | Date, work: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new Error('Temporal gave no answer in time'));
      timer = setTimeout(fail, Number(deadline) - Date.now());
    });
    const done = this.#connected().then((connection) => connection.withDeadline(deadline, work));
    try {
      return await Promise.race([done, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async withMetadata<T>(metadata: Metadata, work: () => Promise<T>): Promise<T> {
    return (await this.#connected()).withMetadata(metadata, work);
  }

  async withAbortSignal<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return (await this.#connected()).withAbortSignal(signal, work);
  }

  async close(): Promise<void> {
    const closed = this.#connecting?.then(
      (connection) => connection.close(),
      () => undefined,
    );
    // Do not wait for a connection that is still being made: it may take half a minute to fail.
    if (this.#isOpen) await closed;
  }

  #connected(): Promise<NativeConnection> {
    this.#connecting ??= NativeConnection.connect(this.#options).then(
      (connection) => {
        this.#isOpen = true;
        return connection;
      },
      (error: unknown) => {
        this.#connecting = undefined;
        throw error;
      },
    );
    return this.#connecting;
  }

  #forward(service: Service): RpcImplementation {
    return (...call) => void this.#handOn(service, ...call);
  }

  async #handOn(service: Service, ...[method, request, callback]: RpcCall): Promise<void> {
    try {
      const connection = await this.#connected();
      connection[service].rpcImpl?.(method, request, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

type TemporalSettings = Pick<
  Config,
  | 'TEMPORAL_ADDRESS'
  | 'TEMPORAL_NAMESPACE'
  | 'TEMPORAL_API_KEY'
  | 'TEMPORAL_TLS'
  | 'TEMPORAL_TLS_CA_FILE'
  | 'TEMPORAL_TLS_CERT_FILE'
  | 'TEMPORAL_TLS_KEY_FILE'
>;

type ConnectionOptions = Awaited<ReturnType<typeof connectionOptions>>;

/**
 * Reads address, TLS (by a public or a private authority, mutual or not) and API key into the form that client and
 * worker connections share.
 */
export async function connectionOptions(settings: TemporalSettings) {
  const authority = settings.TEMPORAL_TLS_CA_FILE;
  const certificate = settings.TEMPORAL_TLS_CERT_FILE;
  const key = settings.TEMPORAL_TLS_KEY_FILE;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error('TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE go together');
  }
  const own = {
    ...(authority === undefined ? {} : { serverRootCACertificate: await readFile(authority) }),
    ...(certificate === undefined || key === undefined
      ? {}
      : { clientCertPair: { crt: await readFile(certificate), key: await readFile(key) } }),
  };
  const apiKey = settings.TEMPORAL_API_KEY;
  return {
    address: settings.TEMPORAL_ADDRESS,
    // An API key travels in a header, so it implies TLS.
    tls: Object.keys(own).length > 0 ? own : settings.TEMPORAL_TLS || apiKey !== undefined,
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Makes the start of a workflow a span and hands its id to the workflow in a header. */
function traceStarts(tracing: Tracing): WorkflowClientInterceptor {
  return {
    startWithDetails(input, next) {
      const { workflowId } = input.options;
      const options = {
        kind: 'producer',
        attributes: {
          'temporal.workflow.type': input.workflowType,
          'temporal.workflow.id': workflowId,
        },
      } as const;
      return tracing.span(`start workflow ${input.workflowType}`, options, ({ traceparent }) =>
        next({
          ...input,
          headers: {
            ...input.headers,
            [TRACE_HEADER]: defaultPayloadConverter.toPayload(traceparent),
          },
        }),
      );
    },
  };
}
