import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { ToastProvider } from './parts/toast.tsx';
import { TooltipProvider } from './parts/tooltip.tsx';
import { createAppRouter } from './router.ts';
import { watchTheme } from './theme/theme.ts';
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has nothing to assign
import './theme/theme.css';

watchTheme();
const queryClient = createQueryClient();
const router = createAppRouter(queryClient);
const root = document.querySelector('#root');
if (root === null) throw new Error('The page has no root.');
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider>
          <ToastProvider>
            <RouterProvider router={router} />
          </ToastProvider>
        </TooltipProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
