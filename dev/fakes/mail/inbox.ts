export interface CaughtMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Empty for a mail that is text only. */
  readonly html: string;
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: string;
}

const MOST = 500;

/** Keeps the latest mails, the newest first. */
export function inbox() {
  const mails: CaughtMail[] = [];
  return {
    add(mail: Omit<CaughtMail, 'receivedAt'>): void {
      mails.unshift({ ...mail, receivedAt: new Date().toISOString() });
      mails.splice(MOST);
    },
    list(to?: string): readonly CaughtMail[] {
      return to === undefined ? mails : mails.filter((mail) => mail.to.includes(to));
    },
  };
}
