import type { Person } from '#test/support/people.ts';

/** Returns the cookies of a person's session in the form of a browser. */
export function cookiesOf({ session }: Pick<Person, 'session'>, url: string) {
  return (session.headers['Cookie'] ?? '').split('; ').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return { name, value: value.join('='), url };
  });
}
