export { openMailer, type Mailer } from './mailer.ts';
