export { NotificationsTab as default } from './notifications-tab.tsx';
