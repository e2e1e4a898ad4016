#!/usr/bin/env node
import { existsSync } from 'node:fs';

const built = new URL('../dist/main.js', import.meta.url);
if (existsSync(built)) {
  const { start } = await import(built.href);
  await start();
} else {
  console.error('The CLI is not built in this checkout yet: run `npm run cli:build`.');
  process.exitCode = 1;
}
