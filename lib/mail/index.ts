export { openMailer, type Mail, type Mailer } from './mailer.ts';
