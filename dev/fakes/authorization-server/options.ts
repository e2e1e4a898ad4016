import type { Configuration } from 'oidc-provider';

export interface AuthorizationServerOptions {
  /** Port; 0 takes a free one. */
  port: number;
  /** Decision of the person at the browser; `control` may change it later. */
  answer?: 'approve' | 'deny';
  accessTokenSeconds?: number;
  /** Clients that are registered from the start. */
  clients?: Configuration['clients'];
  /** Dynamic registration (RFC 7591); default true. */
  registration?: boolean;
  /** Fetches metadata documents. If set, the server accepts addresses of documents as client ids. */
  readClientMetadata?: typeof globalThis.fetch;
  /** Key that the `/accounts` API accepts besides access tokens. */
  apiKey?: string;
}

export interface HeldRequest {
  /** Resolves when the request has arrived and is held. */
  readonly arrived: Promise<void>;
  release(): void;
}

export interface AuthorizationServer {
  readonly issuer: string;
  readonly control: {
    answer: 'approve' | 'deny';
    accessTokenSeconds: number;
    /** Responses of the token endpoint in place of its own, first in, first out. */
    readonly tokenFaults: { status: number; body: string }[];
    /** The grant types of the requests to the token endpoint, in order. */
    readonly tokenRequests: string[];
    /** Delay of the token endpoint before it acts. */
    tokenDelayMs: number;
    /** Holds the next request to the token endpoint before the endpoint acts, or its response after that. */
    holdNextToken(moment: 'before' | 'after'): HeldRequest;
    /** The account of the person at the browser. */
    account: string;
    /** Scopes of the tool server to which the person agrees. */
    agreedTo: string;
    /** The token type hints of the requests to the revocation endpoint, in order. */
    readonly revocationRequests: string[];
    /** Responses of the revocation endpoint in place of its own, first in, first out; `hang` sends no response. */
    readonly revocationFaults: (number | 'hang')[];
    /** Decision of the person about a user code of the device flow. */
    answerDevice(userCode: string, answer: 'approve' | 'deny'): Promise<void>;
    revokeAccessTokens(): Promise<void>;
    revokeAll(): Promise<void>;
  };
  /** Returns the audience and scope of an access token; undefined unless it is valid. */
  accessToken(bearer: string): Promise<{ audience: string | undefined; scope: string } | undefined>;
  stop(): Promise<void>;
}
