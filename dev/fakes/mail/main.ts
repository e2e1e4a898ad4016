/** Entry: runs the mail catcher, with SMTP on MAIL_SMTP_PORT and its page on MAIL_PORT. */
import { startMailCatcher } from './server.ts';

const catcher = await startMailCatcher({
  smtpPort: Number(process.env['MAIL_SMTP_PORT'] ?? 1025),
  httpPort: Number(process.env['MAIL_PORT'] ?? 8025),
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void catcher.stop().then(() => process.exit(0)));
}

console.log(`Mail catcher: ${catcher.url}`);
