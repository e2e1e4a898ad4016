import { Tabs as Base } from '@base-ui/react/tabs';
import { Fragment, useEffect, useRef, type ReactNode } from 'react';
import { cx } from './cx.ts';

export interface Tab<Value extends string> {
  readonly value: Value;
  readonly label: ReactNode;
  /** Heading above this tab and the following ones, until the next group. With groups, tabs are beside their panel. */
  readonly group?: string;
  readonly panel: ReactNode;
}

export interface TabsProps<Value extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** Switches between views of the same thing. The address keeps the open one. */
export function Tabs<Value extends string>({ label, tabs, value, onChange }: TabsProps<Value>) {
  const list = useRef<HTMLDivElement>(null);
  const index = tabs.findIndex((tab) => tab.value === value);
  const isGrouped = tabs[0]?.group !== undefined;
  // Scroll to the open tab: on a phone the tabs scroll sideways, and it may be out of sight.
  useEffect(() => {
    const open = list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[index];
    if (!list.current || !open) return;
    list.current.scrollLeft = open.offsetLeft - (list.current.clientWidth - open.offsetWidth) / 2;
  }, [index]);
  return (
    <Base.Root
      orientation={isGrouped ? 'vertical' : 'horizontal'}
      className={cx(isGrouped && 'lg:grid lg:grid-cols-[11rem_minmax(0,1fr)] lg:gap-x-10')}
      value={value}
      onValueChange={(next) => {
        const chosen = tabs.find((tab) => tab.value === next);
        if (chosen !== undefined) onChange(chosen.value);
      }}
    >
      <Base.List
        ref={list}
        aria-label={label}
        className={cx(
          'relative mb-5 flex gap-4 overflow-x-auto border-b border-line',
          isGrouped && 'lg:sticky lg:top-8 lg:flex-col lg:gap-0.5 lg:self-start lg:border-b-0',
        )}
      >
        {tabs.map((tab, at) => (
          <Fragment key={tab.value}>
            {isGrouped && tab.group !== tabs[at - 1]?.group && (
              // Hide the heading from screen readers, because a list of tabs has no headings for them.
              <span aria-hidden className="px-2 pt-5 pb-1 text-xs text-faint first:pt-0 max-lg:hidden">
                {tab.group}
              </span>
            )}
            <Base.Tab
              value={tab.value}
              className={cx(
                'ring-inside -mb-px flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-0.5 text-base font-medium text-muted hover:text-ink data-active:border-accent data-active:text-ink',
                isGrouped &&
                  'lg:mb-0 lg:h-8 lg:rounded-md lg:border-b-0 lg:px-2 lg:font-normal lg:hover:bg-hover lg:data-active:bg-hover lg:data-active:font-medium',
              )}
            >
              {tab.label}
            </Base.Tab>
          </Fragment>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="min-w-0 outline-offset-4">
          {tab.panel}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
