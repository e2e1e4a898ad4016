import {
  OperatorService,
  WorkflowService,
  type ConnectionLike,
  type Metadata,
} from '@temporalio/client';
import type { ConnectionOptions } from './connection-options.ts';
import { NativeConnection } from './native.ts';

type Service = 'workflowService' | 'operatorService';
type RpcImplementation = Parameters<typeof WorkflowService.create>[0];
type RpcCall = Parameters<RpcImplementation>;

/**
 * A native connection (docs/adr/0008) that is made when it is first used, and again by the next who needs it while
 * that fails. Once made, it mends itself.
 */
export class LazyConnection implements ConnectionLike {
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
   * The deadline holds for all that `work` does together: the native half counts it for each of its attempts.
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
    // One that is still being made may take half a minute to fail.
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
