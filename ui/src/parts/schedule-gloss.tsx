import cronstrue from 'cronstrue';

/** Says in words what a cron expression means; where words could mislead, shows the expression itself. */
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
