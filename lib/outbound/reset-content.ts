import type { Dispatcher } from 'undici';
import { OutboundError } from './errors.ts';

/**
 * Closes a connection that sends content with status 205. HTTP allows none there (RFC 9110,
 * 15.3.6), so `fetch` is done with the headers, drops its abort signal and would read and discard
 * what comes for as long as it comes.
 */
export function refuseResetContent(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) => {
    let isResetContent = false;
    return dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
      onBodySent: (chunk) => handler.onBodySent?.(chunk),
      onRequestSent: () => handler.onRequestSent?.(),
      onResponseStarted: () => handler.onResponseStarted?.(),
      onResponseStart: (controller, status, headers, statusText) => {
        isResetContent = status === 205;
        handler.onResponseStart?.(controller, status, headers, statusText);
      },
      onResponseData: (controller, chunk) => {
        if (isResetContent) controller.abort(new OutboundError('protocol_error', 'content in 205'));
        else handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
  };
}
