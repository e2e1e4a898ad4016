/** Verbs with which a rule of a skill may begin. Add a missing verb in its alphabetical place. */
export const IMPERATIVES: ReadonlySet<string> = new Set(
  `accept account act adapt add address adjust advise aggregate agree aim align allow alternate analyse annotate answer append
  apply approve archive ask assign assume attach attack attribute audit average avoid back backtest base batch be begin block bound
  break bring build bundle calculate call cap capture carry cast catalogue categorise change chart check choose cite
  claim classify clean clear close cluster code collapse collect combine come compare complete compute concentrate conclude
  confirm connect consider consult contact continue control convert copy correct count cover crawl create credit cross cut
  date decide declare decompose deduct deduplicate default defer define delay delete deliver deny derive describe design detect
  determine diagnose direct disable discard discount disregard divide do document double downgrade draft draw drop
  duplicate edit eliminate email employ enable encourage end enforce enter escalate establish estimate evaluate examine
  exclude exempt expand expect explain export express extend extract fail fall feed fetch file fill filter find
  finish fit fix flag focus fold follow forbid forecast forget form format formulate forward freeze gate gather generate get give
  go grade graph greet group grow guard guess halve hand handle head hear help hide hold honour identify ignore include
  increase index infer inform insert inspect interpret introduce invent investigate invite isolate issue join judge justify keep
  know label launch lay lead leave let level limit link list listen load locate lock log look lower maintain make map mark match
  mean measure mend mention merge mine minimise mix model modify monitor move multiply mute name narrow negotiate normalise note
  notice notify number obey observe obtain offer omit open order organise outline outrank overwrite own pace pair park parse
  pass paste pause pay pick pilot pin place plan plot point pool post postpone prefer prepare present preserve press
  presume prevent price print prioritise proceed process produce project promise promote propose protect prove provide prune publish pull
  put qualify quantify query question quote raise rank rate reach read rebuild recalculate recheck recommend
  reconcile record recount redact redirect reduce refer refresh refuse reject relabel relate release rely remain remember remind
  remove rename render repair repeat rephrase replace reply report request require rescale reserve reset resolve respect respond
  rest restart restate restore restrict resume retain retest retire retry return reuse reverse review revise revisit reword
  rewrite rotate round route rule run sample save say scale scan schedule scope score screen search section seek segment
  select send separate serve set settle shift shorten show shrink sign signal simulate size sketch skip slow smooth solve sort space
  specify split spot stage stand start state stay stem step stop store stress strip structure study subtract suggest sum
  summarise supply support suppress surface suspend swap switch tabulate tag take target tell test think thank tick tie
  tighten time tolerate total trace track transcribe translate treat triage trial trim trust try tune turn type uncover underline
  undo update upgrade use validate value verify view visit voice wait walk warn watch weigh weight welcome widen withdraw
  withhold word work write`.split(/\s+/u),
);

/** Matches finite verbs, which make a sentence complete. */
export const FINITE =
  /(?:^|[\s"(])(?:is|are|was|were|isn't|aren't|has|have|had|does|do|did|don't|doesn't|can|cannot|can't|may|might|must|will|won't|would|should|shall|could|needs?|means?|counts?|holds?|gives?|puts|waits|traces|sets|finds|adds|sends|sells|shows?|says?|stands?|comes?|goes|gets?|takes?|makes?|keeps?|begins?|belongs?|becomes?|remains?|stays?|lies|differs?|decides?|applies|happens?|exists?|follows?|leads?|fails?|passes|proves?|tells?|requires?|allows?|includes?|contains?|depends?|explains?|serves?|works?|runs|falls|rises|moves|grows|exceeds?|costs|pays|buys|wins|loses|expects?|describes?|belongs?|covers?|looks?|reads|knows?|sees?|uses|asks|wants?|leaves|brings?|turns|ends|starts|stops|equals|measures|replaces?|predicts?|excludes?|spans|crosses|reaches|drops|came|went|took|made|said|gave|stood|kept|bought|lost|won|left|fell|rose|saw|cost|began|became|ran|paid|named|asked|changed|moved|stopped|disappeared|appeared|vanished|ended|failed|passed|happened)(?=$|[\s,.;:!?")])|=/iu;
