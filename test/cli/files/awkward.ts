import fc from 'fast-check';

/** Texts that YAML, git or editors tend to misread or rewrite. None has a NUL. */
export const awkward = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc
      .array(
        fc.oneof(
          fc.constantFrom('\n', '\r\n', '\r', '\t', ' ', '---\n', '\n---\n', '\n...\n', '# x'),
          fc.constantFrom(': ', '- ', '?', '{a}', '"', "'", '\\', '&a', '*a', '!t', '%', '@'),
          fc.constantFrom('\u0001', '\u0085', '\u2028', '\uFEFF', '😀', '~', '`', '|', '>', '<<'),
          fc.constantFrom('null', 'yes', '1e3', '0x1', '0o7', '.5', '=', '2027-01-01'),
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join('')),
  )
  .map((text) => text.replaceAll('\0', '').toWellFormed());
