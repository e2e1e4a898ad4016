/** Waits for work that goes on whether or not anybody waits. @throws the signal's reason once it aborts */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const stop = Promise.withResolvers<never>();
  const abort = () => stop.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, stop.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
