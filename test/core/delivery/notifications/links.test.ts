import { expect, test } from 'vitest';
import { bodyOf, withoutForeignLinks } from '#core/foundation/outbox/mail-body.ts';
import { joinParts } from '#core/foundation/outbox/mail-parts.ts';

/** Matches texts that mail programs turn into links: addresses with a scheme, host names, mailboxes. */
const LINKED =
  /\p{L}[\p{L}\p{N}+.-]*:[^\s]|(?<!\S)\/\/\S|\\\\\S|\S@\S|[\p{L}\p{N}-]+[.。．｡][\u200C\u200D]?[\p{L}][\p{L}\p{N}-]+/giu;

const WRITTEN = [
  'Overdue: https://evil.example/pay',
  'www.evil.example',
  'Write to help@evil.example',
  'HTTP://EVIL。EXAMPLE:8080/x?y=a.b',
  'mailto:a@evil.example or tel:+4930123456',
  'оплата.рф',
  'javascript:alert(1)',
  '//1.2.3.4/pay',
  '\\\\evil\\share',
  'evil.\u200Bexample and evil.\u200Dexample',
  'https://user:pass@xn--e1awd7f.com.',
];

const ORIGIN = 'https://app.ras.test';

test.for(WRITTEN)('%s is no link, wherever it stands in a mail', (written) => {
  const entry = {
    title: written,
    path: '/p/prj_1/runs/run_1',
    label: written,
    tone: 'good' as const,
    facts: written,
    lines: [written, written],
    differences: [{ sign: '+' as const, text: written }],
  };
  const section = { heading: written, entries: [entry], note: written };
  const part = { projectId: 'prj_1', results: 1, more: false, needs: 1, sections: [section] };
  for (const parts of [1, 2]) {
    const content = withoutForeignLinks(
      joinParts(Array.from({ length: parts }, () => ({ ...part, projectName: written }))),
    );
    const stops = withoutForeignLinks([{ label: `No more of "${written}"`, url: `${ORIGIN}/unsubscribe?t=abc` }]);
    const { text, html } = bodyOf(content, { uiOrigin: ORIGIN, stops });
    const shown = html.replaceAll(/<style>.*?<\/style>/gs, '').replaceAll(/<[^>]*>/g, ' ');
    for (const words of [content.subject, text, shown]) {
      const foreign = words.replaceAll(/https:\/\/app\.ras\.test\/\S*/g, '').replaceAll(/&#\d+;/g, ' ');
      expect(foreign.match(LINKED) ?? []).toStrictEqual([]);
    }
    expect(html).toContain(`href="${ORIGIN}/p/prj_1/runs/run_1"`);
    expect(text).toContain(`${ORIGIN}/unsubscribe?t=abc`);
  }
});

test('figures, times of day and sentences of a mail stay as they are', () => {
  const subject = 'Failed: Weekly audit, 14:05, $0.42 of 3.5 (v1.2.3). Half done...';
  expect(withoutForeignLinks({ subject, lines: [subject] })).toStrictEqual({ subject, lines: [subject] });
});
