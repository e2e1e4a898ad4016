import type { Configuration } from 'oidc-provider';

export interface AuthorizationServerOptions {
  /** Port; 0 takes a free one. */
  port: number;
  /** Decision of the person at the browser; `control` may change it later. */
  answer?: 'approve' | 'deny';
  accessTokenSeconds?: number;
  /** Clients that are there from the start. */
  clients?: Configuration['clients'];
  /** Dynamic registration (RFC 7591); default true. */
  registration?: boolean;
  /** Reads metadata documents, whose addresses it then accepts as client ids. */
  readClientMetadata?: typeof globalThis.fetch;
  /** Key of the `/accounts` API, beside access tokens. */
  apiKey?: string;
}

export interface HeldRequest {
  /** Resolves once it is there and waits. */
  readonly arrived: Promise<void>;
  release(): void;
}

export interface AuthorizationServer {
  readonly issuer: string;
  readonly control: {
    answer: 'approve' | 'deny';
    accessTokenSeconds: number;
    /** Responses of the token endpoint that replace its own, the next first. */
    readonly tokenFaults: { status: number; body: string }[];
    /** The grant types of the requests to the token endpoint, in their order. */
    readonly tokenRequests: string[];
    /** Delay of the token endpoint before it acts. */
    tokenDelayMs: number;
    /** Holds the next request to the token endpoint back, before it acts, or its response after that. */
    holdNextToken(moment: 'before' | 'after'): HeldRequest;
    /** The account of the person at the browser. */
    account: string;
    /** Scopes of the tool server that the person agrees to. */
    agreedTo: string;
    /** The hints of the requests to the revocation endpoint, in their order. */
    readonly revocationRequests: string[];
    /** Responses of the revocation endpoint that replace its own, the next first; `hang` never ends. */
    readonly revocationFaults: (number | 'hang')[];
    /** Decision of the person about a user code of the device flow. */
    answerDevice(userCode: string, answer: 'approve' | 'deny'): Promise<void>;
    /** Revokes every access token. */
    revokeAccessTokens(): Promise<void>;
    /** Revokes every token. */
    revokeAll(): Promise<void>;
  };
  /** Returns the valid access token of a bearer, or undefined. */
  accessToken(bearer: string): Promise<{ audience: string | undefined; scope: string } | undefined>;
  stop(): Promise<void>;
}
