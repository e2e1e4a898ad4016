import { expect, test } from 'vitest';
import { unseenIn } from '#lib/text.ts';
import { drawn } from '../../ui/src/format/drawn.ts';

test('the service refuses in a tool exactly the characters that the dashboard marks', () => {
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const unseen = unseenIn(character);
    if (drawn(character) !== (unseen ?? character)) expect([code, unseen]).toBeNull();
  }
  expect(drawn('a\u202Eb\u{E0041} \u2764\uFE0F\n')).toBe('aU+202EbU+E0041 \u2764\uFE0F\n');
});
