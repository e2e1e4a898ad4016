import type { ReactNode } from 'react';
import { get, useFormContext } from 'react-hook-form';
import { Disclosure } from '#ui/parts/disclosure.tsx';
import { GROUPS } from '#ui/parts/routine-fields.ts';
import type { RoutineForm } from './form.ts';

export interface GroupProps {
  readonly title: keyof typeof GROUPS;
  /** The settings inside in a few words. */
  readonly summary: string;
  readonly children: ReactNode;
}

/** Shows a group of settings; it opens where the server finds fault with one of its fields. */
export function Group({ title, summary, children }: GroupProps) {
  const { errors } = useFormContext<RoutineForm>().formState;
  const isFaulty = GROUPS[title].some((field) => get(errors, field) !== undefined);
  return (
    <Disclosure title={title} summary={summary} isFaulty={isFaulty}>
      {children}
    </Disclosure>
  );
}
