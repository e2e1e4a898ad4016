import { z } from 'zod';
import { route } from '../route.ts';

export const readPublicConfig = route({
  method: 'GET',
  path: '/public/config',
  id: 'readPublicConfig',
  tag: 'Operations',
  summary: 'Read what a user interface has to know before a sign-in',
  description:
    'The product tag, the launch switches and who may sign up. The dashboard is not ready while its own switches differ from these.',
  auth: 'none',
  success: {
    status: 200,
    data: z
      .strictObject({
        productTag: z.string().meta({ example: 'ras' }),
        publicUrl: z
          .string()
          .meta({ description: 'Where this API is.', example: 'https://api.example.com' }),
        uiOrigin: z.string().meta({
          description: 'The only origin whose sessions may change anything.',
          example: 'https://app.example.com',
        }),
        signUp: z.enum(['open', 'invited', 'closed']).meta({ description: 'Who may sign up.' }),
        verifiesAddresses: z.boolean().meta({
          description: 'Whether an address is confirmed by mail before its first sign-in.',
        }),
        commercialAcquisition: z.boolean().meta({ description: 'Whether plans are offered.' }),
        checkout: z.boolean().meta({ description: 'Whether a checkout can be begun.' }),
      })
      .meta({ id: 'PublicConfig' }),
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
