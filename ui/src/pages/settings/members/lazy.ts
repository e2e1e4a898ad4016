export { MembersTab as default } from './members-tab.tsx';
