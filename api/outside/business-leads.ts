import { z } from 'zod';
import { submitLead } from '#core/leads/index.ts';
import { networkOf } from '../http/client-address.ts';
import { emailAddress, nameOf } from '../http/schemas.ts';
import { route } from '../route.ts';

/** Matches ten characters or more, not counting the space around them. */
const TEN_CHARACTERS = /^\s*\S[\s\S]{8,}\S\s*$/u;

export const submitBusinessLead = route({
  method: 'POST',
  path: '/public/business-leads',
  id: 'submitBusinessLead',
  tag: 'Operations',
  summary: 'Send a business enquiry',
  description:
    'From a page of the user interface only. At most 5 an hour from one address, 20 from one network and 200 in all, of which 100 are not the first of their address. The response is the same whether the enquiry is kept or taken for a robot.',
  auth: 'ui-origin',
  body: z
    .strictObject({
      name: nameOf(100),
      email: emailAddress,
      company: nameOf(200),
      message: z.string().min(10).max(5_000).regex(TEN_CHARACTERS, 'at least 10 characters').trim(),
      // A field that no person sees, so that only a robot fills it in.
      website: z.string().max(300).optional().meta({ description: 'Leave this empty.' }),
    })
    .meta({ id: 'BusinessLead' }),
  success: {
    status: 202,
    data: z.strictObject({ accepted: z.literal(true) }).meta({ id: 'BusinessLeadAccepted' }),
    description: 'Accepted.',
  },
  errors: ['origin_not_allowed', 'rate_limited'],
}).to(async ({ access, body: { website, ...lead }, deps }) => {
  await submitLead(deps.database, {
    ...lead,
    isRobot: website !== undefined && website !== '',
    clientAddress: networkOf(access.clientAddress),
    clientNetwork: networkOf(access.clientAddress, 'wide'),
  });
  return { data: { accepted: true } };
});
