/** Limit of a message before it is signed and encrypted. */
export const MAX_PLAINTEXT_BYTES = 4 * 1024 * 1024;

/**
 * A request's envelope, and a frame of a response: signing and encrypting spell the message in base64url one after the
 * other, each four characters for three bytes.
 */
export const MAX_ENVELOPE_BYTES = Math.ceil((MAX_PLAINTEXT_BYTES * 16) / 9) + 8 * 1024;
