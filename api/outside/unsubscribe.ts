import type { Context, Middleware } from 'koa';
import { ALL_DIGESTS, optIn, optOut, UNSUBSCRIBE_PATH, type OptOut } from '#core/foundation/outbox/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Deps } from '../deps.ts';
import { FORM_POLICY } from '../middleware/headers.ts';
import { htmlPage } from '#lib/text.ts';

/**
 * Serves the links that unsubscribe. A GET only shows a button, because mail scanners follow links; a POST
 * unsubscribes, from that page or from the mail program (RFC 8058), without a session or a body. The links are not
 * operations of the API: a standard defines their form, which has no envelope.
 */
export function unsubscribe({ database, unsubscribeLinks }: Pick<Deps, 'database' | 'unsubscribeLinks'>): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(UNSUBSCRIBE_PATH)) return next();
    ctx.state.route = `${UNSUBSCRIBE_PATH}:token`;
    if (!['GET', 'HEAD', 'POST'].includes(ctx.method)) {
      throw new AppError('method_not_allowed', undefined, { Allow: 'GET, HEAD, POST' });
    }
    const asked = unsubscribeLinks.read(ctx.path.slice(UNSUBSCRIBE_PATH.length));
    if (asked === undefined) throw new AppError('route_not_found', 'This link is not valid any more.');
    const again = ctx.querystring === 'again';
    if (ctx.method === 'POST') {
      await (again ? optIn : optOut)(database, asked);
      show(ctx, again ? RESUBSCRIBED : UNSUBSCRIBED);
    } else {
      show(ctx, askedFor(asked));
    }
    return undefined;
  };
}

interface Page {
  readonly text: string;
  readonly button?: { readonly label: string; readonly action: '?' | '?again' };
}

function askedFor({ scopeId }: OptOut): Page {
  const what =
    scopeId === ALL_DIGESTS
      ? 'digests of any project'
      : scopeId.startsWith('digest_')
        ? 'digests of this project'
        : `mail about ${scopeId.startsWith('prj_') ? 'anything in this project' : 'this routine'}`;
  return {
    text: `Do you want no more ${what}?`,
    button: { label: 'No more mail', action: '?' },
  };
}

const UNSUBSCRIBED: Page = {
  text: 'You will get no more mail about this.',
  button: { label: 'Undo', action: '?again' },
};
const RESUBSCRIBED: Page = { text: 'You will get mail about this again.' };

function show(ctx: Context, { text, button }: Page): void {
  ctx.set('Content-Security-Policy', FORM_POLICY);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'text/html';
  ctx.body = htmlPage(
    `<meta name="robots" content="noindex">
<title>Mail about routines</title>`,
    `<p>${text}</p>
${button === undefined ? '' : `<form method="post" action="${button.action}"><button>${button.label}</button></form>`}`,
  );
}
