import { type Kysely, sql } from 'kysely'

/**
 * The audit log. Its triggers hold for whoever opens the database: a line that is settled is never changed, one that is not only becomes settled, a
 * line that sums only counts on, and none goes before its 400 days are over.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('id', 'integer', column => column.primaryKey().autoIncrement())
    .addColumn('at', 'integer', column => column.notNull())
    .addColumn('owner', 'text', column => column.notNull())
    .addColumn('repo', 'text', column => column.notNull())
    .addColumn('caller', 'text', column => column.notNull())
    .addColumn('door', 'text', column => column.notNull())
    .addColumn('ref', 'text', column => column.notNull())
    .addColumn('from', 'text')
    .addColumn('to', 'text')
    .addColumn('outcome', 'text', column => column.notNull())
    .addColumn('settled_at', 'integer')
    .addColumn('reason', 'text', column => column.notNull())
    .addColumn('code', 'text')
    .addColumn('note', 'text')
    .addColumn('more', 'integer', column => column.notNull())
    .execute()
  await db.schema.createIndex('audit_owner').on('audit').columns(['owner', 'id']).execute()
  await db.schema.createIndex('audit_caller').on('audit').columns(['caller', 'repo', 'at']).execute()
  await db.schema.createIndex('audit_at').on('audit').column('at').execute()
  await sql`create index audit_open on audit (id) where outcome in ('begun', 'unknown')`.execute(db)
  await sql`
    create trigger audit_unchanged before update on audit
    when not (
      new.id = old.id and new.at = old.at and new.owner = old.owner and new.repo = old.repo and new.caller = old.caller
      and new.door = old.door and new.ref = old.ref and new."from" is old."from" and new."to" is old."to" and new.note is old.note
      and (
        (old.outcome in ('begun', 'unknown') and new.outcome in ('written', 'refused', 'unknown') and new.more = old.more)
        or (
          old.more > 0 and new.more > old.more and new.outcome = old.outcome and new.settled_at is old.settled_at
          and new.reason = old.reason and new.code is old.code
        )
      )
    )
    begin select raise(abort, 'the audit log is not changed'); end`.execute(db)
  await sql`
    create trigger audit_kept before delete on audit
    when old.at > (cast(strftime('%s', 'now') as integer) - 400 * 86400) * 1000
    begin select raise(abort, 'the audit log is kept for 400 days'); end`.execute(db)
  await sql`
    create trigger audit_appended before insert on audit
    when exists (select 1 from audit where id = new.id)
    begin select raise(abort, 'the audit log is only appended to'); end`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const name of ['audit_appended', 'audit_kept', 'audit_unchanged']) await sql`drop trigger ${sql.ref(name)}`.execute(db)
  await db.schema.dropTable('audit').execute()
}
