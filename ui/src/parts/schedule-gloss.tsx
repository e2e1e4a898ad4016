import cronstrue from 'cronstrue';

/** What a cron text means; where words could mislead, the text itself. */
export default function Gloss({ cron }: { readonly cron: string }) {
  const [, , day = '*', , weekday = '*'] = cron.trim().split(/\s+/);
  // Cron runs on either of them, and the library says "and".
  if (day !== '*' && weekday !== '*') return <code>{cron}</code>;
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true });
  } catch {
    return <code>{cron}</code>;
  }
}
