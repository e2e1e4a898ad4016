export { forgetLeads, queueLeadMails, submitLead } from './leads.ts';
