import type { ErrorFields } from './http.ts';
import type { Manner } from './manner.ts';

/** Makes the body of an error as OpenAI and most others write it. */
export function nested({ message, type, param, code }: ErrorFields) {
  return { error: { message, type, param, code } };
}

/** Fields that all hosted servers accept in a body. */
const FIELDS = words(`model messages temperature top_p n stop max_tokens stream presence_penalty frequency_penalty
  response_format tools tool_choice parallel_tool_calls metadata prediction reasoning_effort`);
const OPENAI_FIELDS = [
  ...FIELDS,
  ...words(`max_completion_tokens stream_options seed logit_bias logprobs top_logprobs user safety_identifier
    prompt_cache_key prompt_cache_retention functions function_call service_tier store modalities audio verbosity`),
];
const USER = words('role content');
const NAMED = [...USER, 'name'];
const TOOL = [...NAMED, 'tool_call_id'];

export const openai: Manner = {
  list: 'openai',
  errorBody: nested,
  fields: OPENAI_FIELDS,
  messageFields: {
    system: NAMED,
    user: NAMED,
    assistant: [...NAMED, 'refusal', 'audio', 'tool_calls', 'function_call', 'annotations'],
    tool: TOOL,
  },
  refuses: {
    unknownField: { message: 'Unrecognized request argument supplied: {field}' },
    unknownMessageField: {
      message: "Unknown parameter: 'messages[{index}].{field}'.",
      param: 'messages[{index}].{field}',
      code: 'unknown_parameter',
    },
    effort: {
      message: "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
      param: 'reasoning_effort',
      code: 'unsupported_parameter',
    },
    streamOptionsAlone: {
      message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      param: 'stream_options',
    },
    emptyTools: {
      message: "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: 'tools',
      code: 'empty_array',
    },
    choiceWithoutTools: {
      message: "Invalid value for '{field}': '{field}' is only allowed when 'tools' are specified.",
      param: '{field}',
    },
    parametersNoObject: {
      message: `Invalid schema for function '{name}': schema must be a JSON Schema of 'type: "object"', got 'type: "{type}"'.`,
      param: 'tools[0].function.parameters',
      code: 'invalid_function_parameters',
    },
    arrayWithoutItems: {
      message: "Invalid schema for function '{name}': In context=({place}), array schema missing items.",
      param: 'tools[{index}].function.parameters',
      code: 'invalid_function_parameters',
    },
    longPrompt: {
      message:
        "This model's maximum context length is {window} tokens. However, your messages resulted in {prompt} tokens. Please reduce the length of the messages.",
      param: 'messages',
      code: 'context_length_exceeded',
    },
    largeOutput: {
      message:
        'max_tokens is too large: {limit}. This model supports at most {most} completion tokens, whereas you provided {limit}.',
      param: 'max_tokens',
      code: 'invalid_value',
    },
  },
  unknownModel: {
    status: 404,
    message: 'The model `{model}` does not exist or you do not have access to it.',
    code: 'model_not_found',
  },
  limits: ['max_completion_tokens', 'max_tokens'],
  form: { reasoning: 'none' },
  usage: 'openai',
};

// Remove the refusal of `reasoning_effort`, which these models accept.
const { effort: _, ...withoutEffort } = openai.refuses;

export const gpt5: Manner = {
  ...openai,
  refuses: {
    ...withoutEffort,
    maxTokens: {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: 'max_tokens',
      code: 'unsupported_parameter',
    },
    temperature: {
      message:
        "Unsupported value: 'temperature' does not support {temperature} with this model. Only the default (1) value is supported.",
      param: 'temperature',
      code: 'unsupported_value',
    },
  },
  limits: ['max_completion_tokens'],
};

const MISTRAL_ORDER = { type: 'invalid_request_message_order', code: '3230' };

export const mistral: Manner = {
  list: 'mistral',
  errorBody: ({ message, type, param, code, detail }) => ({
    object: 'error',
    message: detail === undefined ? message : { detail },
    type,
    param,
    code,
  }),
  fields: [...FIELDS, 'stream_options', 'random_seed', 'safe_prompt', 'prompt_mode'],
  messageFields: {
    system: USER,
    user: USER,
    assistant: [...USER, 'tool_calls', 'prefix'],
    tool: TOOL,
  },
  refuses: {
    unknownField: { status: 422, message: 'Extra inputs are not permitted', loc: 'body.{field}' },
    unknownMessageField: {
      status: 422,
      message: 'Extra inputs are not permitted',
      loc: 'body.messages.{index}.{role}.{field}',
    },
    userAfterTool: { message: "Unexpected role 'user' after role 'tool'", ...MISTRAL_ORDER },
    strayToolResult: {
      message: 'Not the same number of function calls and responses',
      ...MISTRAL_ORDER,
    },
    unansweredCalls: {
      message: 'Not the same number of function calls and responses',
      ...MISTRAL_ORDER,
    },
    doubledCallId: { message: 'Duplicate tool call id in assistant message', ...MISTRAL_ORDER },
    hollowMessage: {
      message: 'Assistant message must have either content or tool_calls, but not none.',
      type: 'invalid_request_assistant_message',
      code: '3240',
    },
    foreignCallId: {
      message: 'Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.',
      type: 'invalid_function_call',
      code: '3280',
    },
    longPrompt: {
      message:
        'Prompt contains {prompt} tokens and 0 draft tokens, too large for model with {window} maximum context length',
      type: 'invalid_request_invalid_args',
      code: '3051',
    },
  },
  unknownModel: { message: 'Invalid model: {model}', type: 'invalid_model', code: '1500' },
  limits: ['max_tokens'],
  form: { reasoning: 'none' },
  shortCallIds: true,
  statesUsage: true,
  usage: 'sums',
};

export const groq: Manner = {
  list: 'groq',
  errorBody: ({ message, type, param, code }) => ({
    error: {
      message,
      type,
      ...(param === null ? {} : { param }),
      ...(code === null ? {} : { code }),
    },
  }),
  fields: [...OPENAI_FIELDS, 'reasoning_format', 'include_reasoning'],
  messageFields: {
    system: NAMED,
    user: NAMED,
    assistant: [...NAMED, 'tool_calls', 'function_call', 'reasoning'],
    tool: TOOL,
  },
  refuses: {
    unknownField: { message: "property '{field}' is unsupported" },
    unknownMessageField: {
      message:
        "'messages.{index}' : for 'role:{role}' the following must be satisfied[('messages.{index}' : property '{field}' is unsupported)]",
    },
    toolsWithSchema: { message: 'json mode cannot be combined with tool/function calling' },
    schema: {
      message:
        'This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models',
      param: 'response_format',
    },
    longPrompt: {
      message: 'Please reduce the length of the messages or completion.',
      param: 'messages',
      code: 'context_length_exceeded',
    },
    largeOutput: {
      message:
        '`max_tokens` must be less than or equal to `{most}`, the maximum value for `max_tokens` is less than the `context_window` for this model',
      param: 'max_tokens',
    },
  },
  unknownModel: openai.unknownModel,
  limits: ['max_completion_tokens', 'max_tokens'],
  form: { reasoning: 'reasoning' },
  usage: 'openai',
};

const LOST_SIGNATURE = {
  message:
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}` , position {index}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.',
};

export const openrouter: Manner = {
  list: 'openrouter',
  errorBody: (error) => ({
    error:
      error.type === 'openrouter'
        ? { message: error.message, code: error.status, metadata: { provider_name: null } }
        : {
            message: 'Provider returned error',
            code: error.status,
            metadata: { raw: JSON.stringify(nested(error)), provider_name: 'Fixture' },
          },
    user_id: 'user_fixture',
  }),
  refuses: {
    // The router passes on Google's error about missing signatures.
    lostDetails: LOST_SIGNATURE,
    longOutput: {
      type: 'openrouter',
      message:
        "This endpoint's maximum context length is {window} tokens. However, you requested about {total} tokens ({prompt} of text input, {limit} in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.",
    },
  },
  unknownModel: { type: 'openrouter', message: '{model} is not a valid model ID' },
  limits: ['max_completion_tokens', 'max_tokens'],
  form: { reasoning: 'reasoning_details', comments: true },
  statesUsage: true,
  errorInChunk: true,
  usage: 'cost',
};

export const gemini: Manner = {
  list: 'gemini',
  errorBody: ({ status, message }) => [
    { error: { code: status, message, status: GOOGLE_STATES[status] ?? 'INTERNAL' } },
  ],
  fields: OPENAI_FIELDS,
  refuses: {
    unknownField: {
      message: 'Invalid JSON payload received. Unknown name "{field}": Cannot find field.',
    },
    schemaKeyword: {
      message: `Invalid JSON payload received. Unknown name "$schema" at 'tools[0].function_declarations[{index}].parameters': Cannot find field.`,
    },
    toolsWithSchema: {
      message: "Function calling with a response mime type: 'application/json' is unsupported",
    },
    unansweredCalls: {
      message:
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    },
    lostSignature: LOST_SIGNATURE,
    longPrompt: {
      message: 'The input token count ({prompt}) exceeds the maximum number of tokens allowed ({window}).',
    },
  },
  unknownModel: {
    status: 404,
    message: 'models/{model} is not found for API version v1main, or is not supported.',
  },
  limits: ['max_completion_tokens', 'max_tokens'],
  form: { reasoning: 'extra_content', crlf: true },
  usage: 'sums',
};
const GOOGLE_STATES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function words(text: string): string[] {
  return text.split(/\s+/);
}
