import { ROLES } from './manner.ts';
import type { Manner } from './manner.ts';

export const llamaCpp: Manner = {
  list: 'llama.cpp',
  errorBody: ({ status, message, type, extra }) => ({
    error: { code: status, message, type, ...extra },
  }),
  refuses: {
    brokenArguments: {
      status: 500,
      type: 'server_error',
      message:
        'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 1: syntax error while parsing value',
    },
    longPrompt: {
      type: 'exceed_context_size_error',
      message: 'request ({prompt} tokens) exceeds the available context size ({window} tokens), try increasing it',
      extra: { n_prompt_tokens: 'prompt', n_ctx: 'window' },
    },
  },
  // The real server answers any id with its only model; a server with several models sends this error.
  unknownModel: { message: "model '{model}' not found" },
  limits: ['max_completion_tokens', 'max_tokens'],
  form: { reasoning: 'reasoning_content' },
  schemaOverTools: true,
  usage: 'openai',
};

/** Wraps the message of a chat template in the words of llama.cpp. */
function inTemplate(message: string): string {
  return `\n------------\nWhile executing CallExpression at line 1, column 206 in source:\n...ndex0 % 2 == 0) %}{{ raise_exception('${message}...\n                                           ^\nError: Jinja Exception: ${message}`;
}

export const gemma: Manner = {
  ...llamaCpp,
  refuses: {
    ...llamaCpp.refuses,
    roleOrder: { message: inTemplate(ROLES) },
    userAfterTool: { message: inTemplate(ROLES) },
  },
};

const MINISTRAL =
  'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.';

export const vllm: Manner = {
  list: 'vllm',
  errorBody: ({ status, message, type, param }) => ({
    object: 'error',
    message,
    type: VLLM_TYPES[status] ?? type,
    param,
    code: status,
  }),
  refuses: {
    streamOptionsAlone: { message: 'Stream options can only be defined when `stream=True`.' },
    choiceWithoutTools: { message: 'When using `{field}`, `tools` must be set.' },
    longPrompt: {
      message:
        "This model's maximum context length is {window} tokens. However, your request has {prompt} input tokens. Please reduce the length of the input messages.",
    },
    longOutput: {
      message:
        "'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context length is {window} tokens and your request has {prompt} input tokens ({limit} > {window} - {prompt}).",
    },
    brokenArguments: { message: 'Expecting value: line 1 column 1 (char 0)' },
  },
  unknownModel: { status: 404, message: 'The model `{model}` does not exist.' },
  limits: ['max_completion_tokens', 'max_tokens'],
  form: { reasoning: 'reasoning' },
  schemaOverTools: true,
  usage: 'openai',
};
const VLLM_TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  404: 'NotFoundError',
  500: 'InternalServerError',
};

export const ollama: Manner = {
  list: 'ollama',
  errorBody: ({ status, message }) => ({
    error: { message, type: OLLAMA_TYPES[status] ?? 'api_error', param: null, code: null },
  }),
  refuses: { brokenArguments: { message: 'invalid tool call arguments' } },
  unknownModel: { status: 404, message: 'model "{model}" not found, try pulling it first' },
  limits: ['max_tokens'],
  form: { reasoning: 'reasoning' },
  silentWindow: 4_096,
  usage: 'sums',
};
const OLLAMA_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  404: 'not_found_error',
};

export const ministral: Manner = {
  ...llamaCpp,
  refuses: {
    ...llamaCpp.refuses,
    roleOrder: { status: 500, type: 'server_error', message: inTemplate(MINISTRAL) },
    userAfterTool: { status: 500, type: 'server_error', message: inTemplate(MINISTRAL) },
  },
};

/** vLLM started without `--enable-auto-tool-choice`. Releases since 0.10 nest their errors. */
export const vllmWithoutTools: Manner = {
  ...vllm,
  errorBody: ({ status, message, type, param }) => ({
    error: { message, type: VLLM_TYPES[status] ?? type, param, code: status },
  }),
  refuses: {
    ...vllm.refuses,
    freeToolChoice: {
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    },
  },
};

const UNRENDERED = {
  message: `Error rendering prompt with jinja template: "${ROLES}". This is usually an issue with the model's prompt template. If you are using a popular model, you can try to search the model under lmstudio-community, which will have fixed prompt templates.`,
};

export const lmStudio: Manner = {
  ...llamaCpp,
  list: 'lm-studio',
  errorBody: ({ message }) => ({ error: message }),
  refuses: {
    roleOrder: UNRENDERED,
    userAfterTool: UNRENDERED,
  },
  form: { reasoning: 'think' },
};
