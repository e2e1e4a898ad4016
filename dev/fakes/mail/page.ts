import type { CaughtMail } from './inbox.ts';

export function page(mails: readonly CaughtMail[]): string {
  const shown = mails.length === 0 ? '<p>No mail yet.</p>' : mails.map(article).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mail (${mails.length})</title>
<style>
body { font: 16px/1.5 system-ui; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit }
</style>
</head>
<body>
<h1>Mail</h1>
${shown}
</body>
</html>
`;
}

function article({ to, subject, text, receivedAt }: CaughtMail): string {
  return `<article>
<h2>${escaped(subject)}</h2>
<p>To ${escaped(to.join(', '))} at ${escaped(receivedAt)}</p>
<pre>${linked(text)}</pre>
</article>`;
}

function linked(text: string): string {
  return escaped(text).replaceAll(/https?:\/\/\S+/g, (url) => `<a href="${url}">${url}</a>`);
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
