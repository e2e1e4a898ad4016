export { submitLead } from './leads.ts';
