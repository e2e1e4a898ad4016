import { useMemo } from 'react';
import { blockDiff } from '#ui/format/block-diff.ts';
import { blocksOf } from '#ui/format/blocks.ts';
import { useDocument } from './read-document.ts';
import SideBySide, { Pairs, type SideBySideProps } from './side-by-side.tsx';
import { SkeletonText } from './skeleton.tsx';

/** Shows how a formatted text changed: lines beside each other, tables as tables. */
export default function ComparedDocument({ label, before, after }: SideBySideProps) {
  const [old, fresh] = [useDocument(before), useDocument(after)];
  const pairs = useMemo(() => {
    if (old?.kind !== 'document' || fresh?.kind !== 'document') return undefined;
    return blockDiff(blocksOf(old.nodes), blocksOf(fresh.nodes));
  }, [old, fresh]);
  if (old === undefined || fresh === undefined) {
    return (
      <div aria-busy="true">
        <SkeletonText lines={4} />
      </div>
    );
  }
  if (pairs === undefined) return <SideBySide label={label} before={before} after={after} />;
  if (pairs.every(({ same }) => same)) {
    return <p className="text-base text-muted">Both texts say the same; only formatting or links differ.</p>;
  }
  return <Pairs label={label} pairs={pairs} />;
}
