import { type Kysely, sql } from 'kysely'

const tables = {
  repo: `record_id integer primary key, uri text not null unique, did text not null, name text not null, default_branch text not null,
    transferred_from text, transferred_to text, moved_to text`,
  refs: 'record_id integer primary key, repo text not null unique, did text not null',
  pull: `record_id integer primary key, uri text not null unique, repo text not null, did text not null, rkey text not null,
    branch text not null, head_repo text not null, head_branch text not null, settled integer not null default 0,
    touched integer not null default 0`,
  queue_record: `record_id integer primary key, repo text not null, did text not null, rkey text not null, subject text not null,
    state text not null`,
  state: `record_id integer primary key, repo text not null, did text not null, rkey text not null, subject text not null, state text not null,
    commit_id text, batch text, sound integer not null`,
  issue: 'record_id integer primary key, uri text not null, repo text not null, did text not null, rkey text not null',
  check_run: `record_id integer primary key, repo text not null, did text not null, workflow text not null, status text not null,
    ref text not null, commit_id text not null, base_commit text, pull text, is_batch integer not null, filed_at integer not null`,
  lander: 'record_id integer primary key, repo text not null, did text not null',
  rerun: 'record_id integer primary key, repo text not null, did text not null, rkey text not null, pull text',
  decision: `record_id integer primary key, repo text not null, did text not null, rkey text not null, subject text not null,
    ejection text not null`,
}

const keyed = {
  member: `repo text not null, did text not null, role text not null, position integer not null, until text, since text,
    primary key (repo, did, role)`,
  repo_version: 'repo text primary key, version integer not null',
}

const indices = [
  'repo_did on repo (did)',
  'repo_name on repo (name)',
  'repo_from on repo (transferred_from) where transferred_from is not null',
  'repo_to on repo (transferred_to) where transferred_to is not null',
  'member_did on member (did)',
  'pull_repo on pull (repo, settled, touched, rkey)',
  'pull_head on pull (head_repo)',
  'queue_record_subject on queue_record (subject)',
  'state_subject on state (subject)',
  "state_merged on state (repo, rkey) where state = 'merged'",
  'issue_repo on issue (repo, rkey)',
  'check_run_pull on check_run (pull, filed_at) where pull is not null',
  'check_run_batch on check_run (repo, filed_at) where is_batch = 1',
  'lander_repo on lander (repo)',
  'rerun_repo on rerun (repo, rkey)',
  'decision_subject on decision (subject)',
]

/** One row per live record of a kind, with the columns that reads look for; who is named; a version per repository. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, columns] of Object.entries(tables)) await sql.raw(`create table ${name} (${columns})`).execute(db)
  for (const [name, columns] of Object.entries(keyed)) await sql.raw(`create table ${name} (${columns}) without rowid`).execute(db)
  for (const index of indices) await sql.raw(`create index ${index}`).execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const name of [...Object.keys(keyed), ...Object.keys(tables)]) await db.schema.dropTable(name).execute()
}
