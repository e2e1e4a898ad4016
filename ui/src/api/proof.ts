/** Asks the person to prove who they are; resolves with false when they give it up. */
type AskForProof = () => Promise<boolean>;

let asker: AskForProof | undefined;
let asked: Promise<boolean> | undefined;

/** Sets the dialog that asks. Returns what takes it away. */
export function answerProofsBy(ask: AskForProof): () => void {
  asker = ask;
  return () => {
    if (asker === ask) asker = undefined;
  };
}

/** Asks once for all requests that need a proof at the same time. */
export async function askForProof(): Promise<boolean> {
  if (asker === undefined) return false;
  asked ??= asker().finally(() => {
    asked = undefined;
  });
  return asked;
}
