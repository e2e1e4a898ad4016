/**
 * Keeps a page working after a translator of the browser has changed it. Such a program replaces or wraps each text by
 * an element. When React later removes the text, or inserts something before it, an error occurs if the text has
 * another parent by then.
 */
export function surviveTranslators(): void {
  /** The element that a translator has put in the place of a text. */
  const standIns = new WeakMap<Node, ChildNode>();
  const observer = new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === 'characterData') showAgain(change.target);
      else noteStandIn(change);
    }
  });
  observer.observe(document, { childList: true, subtree: true });

  function noteStandIn({ removedNodes: [text], addedNodes: [added], previousSibling }: MutationRecord): void {
    // React has moved a text: remove the translator's copy, which would stay at the old place.
    const old = added === undefined ? undefined : standIns.get(added);
    if (added !== undefined && old?.contains(added) === false) old.remove();
    // Only a translator replaces a text by an element at once; translators that do it in two steps add a `font`.
    const standIn = added ?? (previousSibling?.nodeName === 'FONT' ? previousSibling : undefined);
    if (!(text instanceof Text && standIn instanceof HTMLElement)) return;
    standIns.set(text, standIn);
    observer.observe(text, { characterData: true });
  }

  /** Shows a text again that has changed since its translation, because the translation is out of date. */
  function showAgain(text: Node): void {
    const standIn = standIns.get(text);
    if (standIn === undefined || text.isConnected) return;
    standIn.replaceWith(text);
  }

  /** Finds the child of the parent that contains the node or replaces it. */
  function childHolding(parent: Node, node: Node): Node | undefined {
    let child: Node | null | undefined = node;
    while (child && child.parentNode !== parent) child = child.parentNode ?? standIns.get(child);
    return child ?? undefined;
  }

  // oxlint-disable-next-line typescript/unbound-method -- called on the node that the replacements are called on
  const { insertBefore, removeChild } = Node.prototype;
  Node.prototype.insertBefore = function insertBeside<T extends Node>(this: Node, node: T, before: Node | null): T {
    insertBefore.call(this, node, before && (childHolding(this, before) ?? null));
    return node;
  };
  Node.prototype.removeChild = function removeHolder<T extends Node>(this: Node, node: T): T {
    const child = childHolding(this, node);
    if (child !== undefined) removeChild.call(this, child);
    return node;
  };
}
