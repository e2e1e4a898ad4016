import { gemini, gpt5, groq, mistral, nested, openai, openrouter } from './hosted-manners.ts';
import { GatewayError } from './http.ts';
import { gemma, llamaCpp, lmStudio, ministral, ollama, vllm, vllmWithoutTools } from './local-manners.ts';
import type { Manner } from './manner.ts';

const fixture: Manner = {
  list: 'fixture',
  errorBody: nested,
  refuses: {},
  unknownModel: {
    status: 404,
    message: 'The model {model} does not exist.',
    code: 'model_not_found',
  },
  limits: [],
  form: { reasoning: 'reasoning_content' },
  usage: 'cost',
};

/** Manners by name. Each manner after `ollama` serves the tests of one behaviour. */
export const MANNERS = {
  fixture,
  openai,
  'gpt-5': gpt5,
  'llama.cpp': llamaCpp,
  vllm,
  mistral,
  gemma,
  groq,
  openrouter,
  ollama,
  gemini,
  'gpt-5-unverified': {
    ...gpt5,
    refuses: {
      ...gpt5.refuses,
      streaming: {
        message:
          'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.',
        param: 'stream',
        code: 'unsupported_value',
      },
    },
  },
  'mistral-without-usage': {
    ...mistral,
    refuses: {
      ...mistral.refuses,
      streamOptions: {
        status: 422,
        message: 'Extra inputs are not permitted',
        loc: 'body.stream_options.include_usage',
      },
    },
  },
  ministral,
  'vllm-without-tools': vllmWithoutTools,
  deepseek: {
    ...openai,
    list: 'deepseek',
    refuses: {
      lostReasoning: {
        message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
        code: 'invalid_request_error',
      },
    },
    limits: ['max_tokens'],
    form: { reasoning: 'reasoning_content' },
  },
  /** A proxy in front of Claude, without `drop_params` and `modify_params`. */
  litellm: {
    ...openai,
    list: 'litellm',
    errorBody: ({ status, message, type, param }) => ({
      error: {
        message: message.startsWith('litellm.') ? message : `litellm.BadRequestError: AnthropicException - ${message}`,
        type,
        param,
        code: String(status),
      },
    }),
    refuses: {
      callsWithoutTools: {
        message:
          'litellm.UnsupportedParamsError: Anthropic expects the `tools=` param to be passed in when tool calls are in messages. To fix, set `litellm.modify_params=True`',
      },
    },
    unknownModel: {
      message:
        'litellm.BadRequestError: Invalid model name passed in model={model}. Call `/v1/models` to view available models for your key.',
    },
  },
  'lm-studio': lmStudio,
} as const satisfies Record<string, Manner>;

export type MannerName = keyof typeof MANNERS;

/** Checks the name of a manner. @throws {GatewayError} for an unknown name */
export function mannerName(name: string): MannerName {
  if (!Object.hasOwn(MANNERS, name)) {
    throw GatewayError.of(400, `There is no manner ${name}: ${Object.keys(MANNERS).join(', ')}.`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a key of the table above
  return name as MannerName;
}
