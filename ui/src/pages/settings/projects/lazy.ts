export { ProjectsTab as default } from './projects-tab.tsx';
