/**
 * Returns the values in an address's query that have to be kept out of what a tool sends back: those that are called a
 * secret or look like one. The others are names of projects and the like, which a result may well hold.
 */
export function secretsInAddress(url: string): string[] {
  return [...new URL(url).searchParams].flatMap(([name, value]) => {
    if (value === '') return OPAQUE.test(name) ? [name] : [];
    return SECRET_NAME.test(name) || OPAQUE.test(value) ? [value] : [];
  });
}

const SECRET_NAME = /key|token|secret|auth|pass|pwd|sig|cred|code/i;
const OPAQUE = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{16,}$/i;
