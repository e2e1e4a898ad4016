import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiError } from '#ui/api/error.ts';
import { errorInWords } from '#ui/api/form.ts';
import { useAsk } from '#ui/api/read.ts';
import { FormError } from '#ui/parts/field.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';
import { Consent } from './consent.tsx';

const route = getRouteApi('/account/authorize');

/**
 * Shows the page that an assistant opens to ask for access (OAuth 2.1), with the request that the service has signed.
 */
export function AuthorizePage() {
  const { request, error } = route.useSearch();
  // Show only the code of a faulty request: the assistant may have written the description.
  if (error !== undefined || request === undefined) return <Wrong error={error} />;
  return <Asked key={request} oauthQuery={request} />;
}

function Asked({ oauthQuery }: { readonly oauthQuery: string }) {
  const [isDecided, setDecided] = useState(false);
  const asked = useAsk('/v1/assistant-consents/read', { body: { oauthQuery } }, { staleMs: Number.POSITIVE_INFINITY });
  if (isDecided) {
    return (
      <AuthFrame
        title="Go back to your assistant"
        description="The assistant continues by itself. You can close this page."
        footer={<TextLink to="/">Go to your routines</TextLink>}
      />
    );
  }
  if (asked.error !== null) return <NotReadable error={asked.error} />;
  if (asked.data === undefined) {
    return (
      <AuthFrame title="Connect an assistant">
        <div aria-busy="true">
          <SkeletonText />
        </div>
      </AuthFrame>
    );
  }
  return <Consent asked={asked.data} oauthQuery={oauthQuery} onDecided={() => setDecided(true)} />;
}

function NotReadable({ error }: { readonly error: ApiError }) {
  if (error.code === 'attempt_not_found') return <Wrong error="invalid_client" />;
  if (error.code === 'attempt_expired') {
    return (
      <AuthFrame
        title="This request has expired"
        description="A request is valid for ten minutes. Connect again from your assistant."
        footer={<TextLink to="/">Go to your routines</TextLink>}
      />
    );
  }
  return (
    <AuthFrame title="The request could not be read">
      <FormError message={errorInWords(error)} />
    </AuthFrame>
  );
}

/** Words for errors of an unverified sender. The person reads them, and they are not sent back. */
const WORDS: Readonly<Record<string, string>> = {
  invalid_client: 'This service does not know the assistant. The people who run the service can register it.',
  client_disabled: 'The people who run this service have switched the assistant off.',
  invalid_redirect: 'The assistant wants the answer at an address that it has not registered.',
};

function Wrong({ error = '' }: { readonly error: string | undefined }) {
  const words = WORDS[error];
  return (
    <AuthFrame
      title="This assistant cannot be connected"
      description={words ?? 'The request of the assistant is incomplete or wrong. Connect again from the assistant.'}
      footer={<TextLink to="/">Go to your routines</TextLink>}
    />
  );
}
