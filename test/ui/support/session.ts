import type { Person } from '#test/support/people.ts';

/** The session of a person, as the browser keeps it. */
export function cookiesOf({ session }: Pick<Person, 'session'>, url: string) {
  return (session.headers['Cookie'] ?? '').split('; ').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return { name, value: value.join('='), url };
  });
}
