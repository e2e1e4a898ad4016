import { z } from 'zod';
import { submitLead } from '#core/accounts/leads/index.ts';
import { openSharedLink as openLink } from '#core/execution/shared-links/index.ts';
import { present } from '../http/present.ts';
import { routesOf } from '../route.ts';
import { networkOf } from '../http/client-address.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { RUN_STATES } from '#core/execution/run-states/index.ts';
import { data, outcomeFields } from '../v1/runs/result-schema.ts';
import { component, emailAddress } from '../http/schemas.ts';

const route = routesOf('Operations');

export const readPublicConfig = route('GET /public/config', {
  id: 'readPublicConfig',
  summary: 'Read the public configuration',
  description:
    'The product tag, the launch switches and the rule for sign-ups. The dashboard is not ready while its own switches differ.',
  auth: 'none',
  success: {
    data: component('PublicConfig', {
      productTag: z.string().meta({ example: 'ras' }),
      publicUrl: z.string().meta({ description: 'Address of this API.', example: 'https://api.example.com' }),
      uiOrigin: z.string().meta({
        description: 'Origin of the dashboard. A session may change something only from this origin.',
        example: 'https://app.example.com',
      }),
      signUp: z.enum(['open', 'invited', 'closed']).describe('Who may sign up.'),
      verifiesAddresses: z.boolean().describe('Whether an address is confirmed by mail before its first sign-in.'),
      commercialAcquisition: z.boolean().describe('Whether plans are offered.'),
      checkout: z.boolean().describe('Whether a checkout can be begun.'),
    }),
    description: 'The configuration that is public.',
  },
}).to(async ({ deps: { config, mailer } }) => ({
  data: {
    productTag: config.PRODUCT_TAG,
    publicUrl: config.PUBLIC_URL,
    uiOrigin: config.UI_ORIGIN,
    signUp: config.SIGN_UP,
    verifiesAddresses: mailer !== undefined,
    commercialAcquisition: config.COMMERCIAL_ACQUISITION_ENABLED,
    checkout: config.CHECKOUT_ENABLED,
  },
}));

/** Matches ten characters or more, not counting white space at the ends. */
const TEN_CHARACTERS = /^\s*\S[\s\S]{8,}\S\s*$/u;

export const submitBusinessLead = route('POST /public/business-leads', {
  id: 'submitBusinessLead',
  summary: 'Send a business enquiry',
  description:
    'Only from a page of the user interface. Limits an hour: 5 from one address, 20 from one network and 200 in all, of which 100 may be repeated ones. The response is the same for an enquiry that was taken for a robot’s.',
  auth: 'ui-origin',
  body: component('BusinessLead', {
    name: nameOf(100),
    email: emailAddress,
    company: nameOf(200),
    message: z.string().min(10).max(5_000).regex(TEN_CHARACTERS, 'at least 10 characters').trim(),
    // People do not see this field, so only a robot fills it in.
    website: z.string().max(300).optional().describe('Leave this empty.'),
  }),
  success: {
    status: 202,
    data: component('BusinessLeadAccepted', { accepted: z.literal(true) }),
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

const sharedResult = component('SharedResult', {
  routineName: z.string(),
  state: z.enum(RUN_STATES),
  outcome: outcomeFields.outcome,
  outcomeSummary: outcomeFields.outcomeSummary,
  result: z.string().nullable(),
  data,
  resultSchema: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('The schema of the data, without the descriptions for the model.'),
  finishedAt: timestamp.nullable(),
  expiresAt: timestamp.describe('When the link ends.'),
});

export const openSharedLink = route('POST /public/shared-results', {
  id: 'openSharedLink',
  summary: 'Read a result by its link',
  description:
    'From a page of the user interface only, at most 60 times a minute from one network. The token is in the body, so that no log has it. An unknown link, a link that has ended and a link to an erased result get the same 404.',
  auth: 'ui-origin',
  body: component('OpenSharedLink', {
    token: z.string().max(200).describe('The part of the address behind its #.'),
  }),
  success: { data: sharedResult, description: 'The result.' },
  errors: ['origin_not_allowed', 'rate_limited', 'link_not_found'],
}).to(async ({ access, body: { token }, deps }) => ({
  data: present(sharedResult, await openLink(deps.database, token, networkOf(access.clientAddress, 'wide'))),
}));
