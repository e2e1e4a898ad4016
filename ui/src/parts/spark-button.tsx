import { ChartLine } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { IconButton } from './button.tsx';

const Spark = lazy(() => import('./spark.tsx'));

export interface SparkButtonProps {
  readonly label: string;
  /** Undefined until the values have been read. */
  readonly values: readonly (number | null)[] | undefined;
  readonly onClick: () => void;
}

/** Opens the chart of a row's number. Shows a small chart in the button if there are two values or more. */
export function SparkButton({ label, values, onClick }: SparkButtonProps) {
  if (values === undefined || values.filter((value) => value !== null).length < 2) {
    return <IconButton size="sm" icon={ChartLine} label={label} onClick={onClick} />;
  }
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="inline-flex h-7 items-center rounded-md px-1.5 align-middle hover:bg-hover pointer-coarse:h-10"
    >
      <Suspense fallback={<span className="w-16" />}>
        <Spark values={values} />
      </Suspense>
    </button>
  );
}
