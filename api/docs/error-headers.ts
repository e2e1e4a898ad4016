const REQUEST_ID = {
  'X-Request-Id': { description: 'The `requestId` of the envelope.', schema: { type: 'string' } },
} as const;

const RETRY_AFTER = {
  description: 'Seconds after which the request may be repeated.',
  schema: { type: 'integer', minimum: 1 },
} as const;

/** Describes the headers of an error by its status. */
export function errorHeaders(status: number) {
  switch (status) {
    case 401:
      return {
        ...REQUEST_ID,
        'WWW-Authenticate': {
          description: 'How to authenticate (RFC 9110, section 11.6.1).',
          schema: { type: 'string' as const },
        },
      };
    case 429:
      return { ...REQUEST_ID, 'Retry-After': { ...RETRY_AFTER, required: true } };
    case 503:
      return { ...REQUEST_ID, 'Retry-After': RETRY_AFTER };
    default:
      return REQUEST_ID;
  }
}
