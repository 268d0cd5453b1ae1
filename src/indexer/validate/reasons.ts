/** Why something that came in is not taken into the index; counted per reason (REC-3). */
export type RefusedReason =
  /** its account or key is none */
  | 'bad-address'
  /** its account's revision is none */
  | 'bad-revision'
  /** a collection of ours that is not known */
  | 'unknown-collection'
  /** the key of a record that must be a TID is not */
  | 'key-not-tid'
  /** the key of a change lies more than a day past its own `createdAt` (REC-3) */
  | 'key-after-created'
  /** the key of a change lies in the future: it is kept, and counts for nothing before its time (REC-3) */
  | 'key-ahead'
  /** `$type` names another collection */
  | 'wrong-type'
  /** over 1 MB of JSON */
  | 'too-large'
  /** more collaborators, runners, rules, refs … than are taken (REC-11) */
  | 'over-bound'
  /** it fails its lexicon in another way */
  | 'lexicon'
  /** control characters in the name of a branch, ref or workflow */
  | 'control-characters'
  /** a commit that is not 40 lower-case hexadecimal digits */
  | 'bad-commit'
  /** `repo` is no repository's address with a DID (REC-12) */
  | 'bad-repository'
  /** `subject` is no pull or issue */
  | 'bad-subject'
  /** it says of itself that it lies elsewhere */
  | 'misfiled'
  /** the repository that it names did not appear in time, or too many waited (REC-11) */
  | 'waiting-expired'
  | 'waiting-full'
  /** writing it failed for a reason of ours */
  | 'failed'
