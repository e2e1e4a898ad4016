export interface CaughtMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Empty for a mail without HTML. */
  readonly html: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: string;
}

const MOST = 500;

/** Keeps the latest mails, newest first. */
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
