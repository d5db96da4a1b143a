// The entry point of the pages.

import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './data/session.ts';
import { App } from './shell/app.tsx';
import './styles/tokens.css';
import './styles/faces.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/search.css';
import './styles/query.css';
import './styles/results.css';
import './styles/plan.css';
import './styles/code.css';

const root = document.querySelector('#root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
