export { AccountTab as default } from './account-tab.tsx';
