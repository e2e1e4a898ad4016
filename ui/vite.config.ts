import path from 'node:path';
import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Rolldown } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwind()],
  define: { __PARTS__: process.argv.includes('--parts') },
  worker: { format: 'es' },
  resolve: {
    alias: {
      // The browser version of this library needs a document, which a worker does not have.
      'decode-named-character-reference': fileURLToPath(import.meta.resolve('decode-named-character-reference')),
    },
  },
  build: {
    target: 'es2023',
    manifest: 'manifest.json',
    // The policy forbids `data:` addresses of fonts, and a separate script can be cached.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    // By default the bundler makes a file for each set of modules that the same pages share: 65 requests for a page.
    // These groups make 20 requests, with 6 % less to send.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            needed('start', 2, ['index.html']),
            needed('shell', 1, ['src/shell/app-shell.tsx', 'src/shell/account-layout.tsx']),
          ],
        },
      },
    },
  },
});

/**
 * Puts into one file all modules that these modules import at the start, except those of a group with a higher
 * priority.
 */
function needed(name: string, priority: number, roots: readonly string[]) {
  let modules: Set<string> | undefined;
  return {
    name: (id: string, context: Rolldown.ChunkingContext) => {
      modules ??= reachable(roots, context);
      return modules.has(id) ? name : null;
    },
    // Used only in the bundler's report.
    debugName: name,
    priority,
  };
}

function reachable(roots: readonly string[], modules: Rolldown.ChunkingContext) {
  const found = new Set<string>();
  const waiting = roots.map((root) => path.join(import.meta.dirname, root));
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    waiting.push(...(modules.getModuleInfo(id)?.importedIds ?? []));
  }
  return found;
}
