export { forgetLeads, submitLead } from './leads.ts';
export { queueLeadMails } from './mails.ts';
