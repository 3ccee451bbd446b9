#![allow(clippy::string_slice)] // Spans of texts that stand here.

use super::purges;
use crate::facts::Facts;
use crate::model::PurgeBound::{self, Age, Count, Everything, Other, Status};
use crate::model::RedriveLack;
use crate::source::{FileId, SourceFile};

fn read(path: &str, sql: &str) -> (Facts, SourceFile) {
    let file = SourceFile { id: FileId(0), path: path.into(), text: sql.into() };
    let mut facts = Facts::default();
    purges::extract(&file, &mut facts);
    (facts, file)
}

/// The bounds of all purges of a script.
#[track_caller]
fn bounds(sql: &str) -> Vec<PurgeBound> {
    let (facts, _) = read("db/jobs.sql", sql);
    assert_eq!(facts.unread, [], "{sql}");
    facts.purges.iter().map(|p| p.bound).collect()
}

#[track_caller]
fn each_is(bound: PurgeBound, statements: &[&str]) {
    for sql in statements {
        assert_eq!(bounds(sql), [bound], "{sql}");
    }
}

/// `DELETE FROM inbox` and the part that chooses, as the source has them.
fn places(sql: &str) -> Vec<(String, Option<String>)> {
    let (facts, file) = read("db/jobs.sql", sql);
    let text = |s: crate::source::Span| file.text[s.range()].to_string();
    facts.purges.iter().map(|p| (text(p.place), p.bound_span.map(text))).collect()
}

#[test]
fn by_number_in_every_spelling() {
    each_is(
        Count,
        &[
            "DELETE FROM inbox ORDER BY created_at LIMIT 1000",
            "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox ORDER BY created_at LIMIT 1000)",
            "DELETE FROM inbox WHERE rowid IN (SELECT rowid FROM inbox ORDER BY created_at LIMIT 1000)",
            "DELETE FROM inbox WHERE ctid = ANY(ARRAY(SELECT ctid FROM inbox ORDER BY created_at LIMIT 1000))",
            "DELETE FROM inbox WHERE ctid IN (SELECT ctid FROM inbox ORDER BY created_at LIMIT 1000 FOR UPDATE SKIP LOCKED)",
            "DELETE FROM inbox WHERE id IN (SELECT id FROM (SELECT id FROM inbox ORDER BY id LIMIT 1000) AS oldest)",
            "DELETE FROM inbox WHERE (sender, message) IN (SELECT sender, message FROM inbox ORDER BY received_at DESC OFFSET 1000000)",
            "DELETE FROM inbox WHERE id NOT IN (SELECT id FROM inbox ORDER BY id DESC LIMIT 10000)",
            "DELETE FROM inbox WHERE rowid IN (SELECT rowid FROM inbox ORDER BY created_at DESC LIMIT -1 OFFSET 10000)",
            "DELETE TOP (5000) FROM inbox",
            "DELETE TOP (5000) FROM [dbo].[InboxState]",
            "DELETE TOP (10) PERCENT FROM inbox",
            "WITH c AS (SELECT TOP (5000) id FROM inbox ORDER BY created_at) DELETE FROM c",
            "WITH oldest AS (SELECT id FROM inbox ORDER BY created_at LIMIT 1000) DELETE FROM inbox USING oldest WHERE inbox.id = oldest.id",
            "WITH oldest AS (SELECT id FROM inbox ORDER BY created_at LIMIT 10), gone AS (DELETE FROM inbox USING oldest o WHERE inbox.id = o.id RETURNING 1) SELECT count(*) FROM gone",
            "DELETE i FROM inbox i JOIN (SELECT id FROM inbox ORDER BY created_at LIMIT 1000) o ON o.id = i.id",
            "SET ROWCOUNT 5000; DELETE FROM inbox; SET ROWCOUNT 0",
            "WITH r AS (SELECT id, ROW_NUMBER() OVER (ORDER BY created_at DESC) rn FROM inbox) DELETE FROM inbox USING r WHERE r.id = inbox.id AND r.rn > 100000",
            "WITH r AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY consumer ORDER BY created_at DESC) rn FROM inbox) DELETE FROM r WHERE rn > 1000",
            "DELETE FROM inbox WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS rn FROM inbox) x WHERE x.rn > 1000)",
            "DELETE FROM inbox WHERE id < (SELECT max(id) - 100000 FROM inbox)",
            "DELETE FROM inbox WHERE id <= (SELECT id FROM inbox ORDER BY id DESC LIMIT 1 OFFSET 100000)",
            "DELETE FROM inbox WHERE created_at < (SELECT created_at FROM inbox ORDER BY created_at DESC LIMIT 1 OFFSET 100000)",
            "DELETE FROM inbox WHERE id < @max_id - 100000",
            "DELETE FROM inbox WHERE id = (SELECT min(id) FROM inbox)",
            "DELETE FROM inbox WHERE rownum <= 1000",
            "DELETE FROM inbox FETCH FIRST 1000 ROWS ONLY",
            "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox ORDER BY created_at FETCH FIRST 1000 ROWS ONLY)",
            "DELETE FROM inbox WHERE ctid IN (SELECT ctid FROM inbox TABLESAMPLE SYSTEM (1))",
            "DELETE FROM inbox WHERE tenant_id = ? ORDER BY created_at LIMIT 100",
            "DELETE FROM inbox WHERE status = 'done' ORDER BY created_at LIMIT 1000",
            "DELETE FROM inbox WHERE created_at < now() - interval '30 days' OR id IN (SELECT id FROM inbox ORDER BY id LIMIT 10)",
            "DELETE FROM inbox WHERE created_at > now() - interval '1 day' LIMIT 100",
            "DELETE FROM dead_letters ORDER BY failed_at LIMIT 500",
        ],
    );
}

#[test]
fn by_age_however_it_is_written_and_batched() {
    each_is(
        Age,
        &[
            "DELETE FROM inbox WHERE created_at < now() - interval '30 days' ORDER BY created_at LIMIT 1000",
            "DELETE FROM inbox WHERE created_at < NOW() - INTERVAL 30 DAY ORDER BY created_at LIMIT 1000",
            "DELETE FROM inbox WHERE created_at < DATE_SUB(NOW(), INTERVAL 3 DAY)",
            "DELETE FROM inbox WHERE created_at < datetime('now', '-7 day')",
            "DELETE FROM inbox WHERE created_at < now() - make_interval(days => 7)",
            "DELETE FROM inbox WHERE created_at < datetime('now', '-' || ? || ' days')",
            "DELETE FROM inbox WHERE processed_at < now() - $1::interval",
            "DELETE FROM inbox WHERE completed_at < now() - interval '9 days' AND status IN ('completed', 'failed')",
            "DELETE FROM inbox WHERE created_at < DATEADD(day, -7, SYSUTCDATETIME())",
            "DELETE FROM inbox WHERE now() - interval '7 days' > created_at",
            "DELETE FROM inbox WHERE created_at BETWEEN '2000-01-01' AND now() - interval '7 days'",
            "DELETE FROM inbox WHERE age(created_at) > interval '7 days'",
            "DELETE FROM inbox WHERE created_at + interval '7 days' < now()",
            "DELETE FROM inbox WHERE now() - created_at > interval '7 days'",
            "DELETE FROM inbox WHERE extract(epoch from now() - created_at) > 604800",
            "DELETE FROM inbox WHERE DATEDIFF(day, created_at, GETDATE()) > 7",
            "DELETE FROM inbox WHERE TIMESTAMPDIFF(DAY, created_at, NOW()) > 7",
            "DELETE FROM inbox WHERE julianday('now') - julianday(created_at) > 7",
            "DELETE FROM inbox WHERE unixepoch() - created_ts > 604800",
            "DELETE FROM inbox WHERE created_at::date < current_date - 7",
            "DELETE FROM inbox WHERE created_at < :'cutoff'",
            "DELETE FROM inbox WHERE created_at < $1",
            "DELETE FROM inbox WHERE expires_at < now()",
            "DELETE FROM inbox WHERE keep_until <= ?",
            "DELETE FROM inbox WHERE created_at < p_cutoff",
            "DELETE FROM inbox WHERE created_at < '2026-01-01' AND status = 'done'",
            "DELETE FROM inbox WHERE created_at < now() - interval '7 days' OR expires_at < now()",
            "DELETE TOP (@BatchSize) FROM OrdersOutboxData WHERE Dispatched = 'true' AND DispatchedAt < @DispatchedBefore",
            "delete from `OrdersOutboxData` where Dispatched = true and DispatchedAt < @before limit @BatchSize",
            "delete from \"OrdersOutboxData\" where ctid in (select ctid from \"OrdersOutboxData\" where \"Dispatched\" = true and \"DispatchedAt\" < @x limit @n)",
            "delete from OrdersOutboxData where Dispatched = 1 and DispatchedAt < :before and rownum <= :n",
            "DELETE FROM idempotency_keys WHERE id IN (SELECT id FROM idempotency_keys WHERE created_at < ? LIMIT ?)",
            "WITH old AS (SELECT id FROM inbox WHERE created_at < now() - interval '1 month' ORDER BY created_at LIMIT 500 FOR UPDATE SKIP LOCKED) DELETE FROM inbox WHERE id IN (SELECT id FROM old)",
            "WITH old AS (SELECT TOP (500) * FROM inbox WHERE received_at < @cutoff ORDER BY received_at) DELETE FROM old",
            "DELETE i FROM inbox i JOIN (SELECT id FROM inbox WHERE created_at < NOW() - INTERVAL 9 DAY LIMIT 1000) o ON o.id = i.id",
            "DELETE FROM inbox WHERE created_at < (SELECT max(created_at) - interval '7 days' FROM inbox)",
            "DELETE FROM inbox WHERE created_at < (SELECT cutoff FROM retention WHERE what = 'inbox')",
            "DELETE FROM inbox WHERE id <= (SELECT max(id) FROM inbox WHERE created_at < now() - interval '7 days')",
        ],
    );
}

#[test]
fn by_status_alone() {
    each_is(
        Status,
        &[
            "DELETE FROM inbox WHERE status = 'done' LIMIT 1000",
            "DELETE FROM inbox WHERE processed",
            "DELETE FROM inbox WHERE processed = true",
            "DELETE FROM inbox WHERE processed_at IS NOT NULL",
            "DELETE FROM inbox WHERE state IN ('done', 'failed')",
            "DELETE FROM inbox WHERE status <> 'pending'",
            "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE status = 'done' LIMIT 1000)",
            "DELETE FROM inbox WHERE created_at < NOW() - INTERVAL 30 DAY OR status = 'done'",
            "DELETE TOP (100) FROM inbox WHERE Status = 'done'",
        ],
    );
}

#[test]
fn targeted_duplicates_and_what_cannot_be_known() {
    each_is(
        Other,
        &[
            "DELETE FROM inbox WHERE sender = ? AND msg_no = ? AND msg_date = ? AND status = 'processing'",
            "DELETE FROM inbox WHERE message_id = $1",
            "DELETE FROM inbox WHERE id = ANY($1)",
            "DELETE FROM inbox WHERE id IN (1, 2, 3)",
            "DELETE FROM inbox WHERE idempotency_key LIKE 'order:%'",
            "DELETE FROM inbox WHERE user_id = $1",
            "DELETE FROM idempotency_keys WHERE key LIKE ANY($1::text[])",
            "WITH gone AS (DELETE FROM commands WHERE user_id = :u RETURNING idempotency_key) DELETE FROM idempotency_keys WHERE key IN (SELECT idempotency_key FROM gone)",
            "DELETE FROM inbox WHERE message_id = NEW.message_id",
            "DELETE FROM inbox WHERE CURRENT OF c",
            "DELETE FROM inbox WHERE id < $1",
            "DELETE FROM inbox WHERE id <= :last",
            "DELETE FROM inbox a USING inbox b WHERE a.id < b.id AND a.message_id = b.message_id",
            "DELETE FROM inbox WHERE id NOT IN (SELECT min(id) FROM inbox GROUP BY message_id)",
            "WITH d AS (SELECT message_id, ROW_NUMBER() OVER (PARTITION BY consumer_id, message_id ORDER BY creation_time) rn FROM received_messages) DELETE FROM received_messages USING d WHERE received_messages.message_id = d.message_id AND d.rn > 1",
            "DELETE FROM inbox WHERE message_id IN (SELECT message_id FROM erased)",
            "DELETE FROM inbox USING consumers c WHERE inbox.consumer_id = c.id AND c.status = 'gone'",
            "DELETE FROM inbox WHERE attempts > 5",
            "DELETE FROM inbox",
            "TRUNCATE inbox",
            "DELETE FROM dead_letters WHERE status = 'resolved'",
        ],
    );
}

#[test]
fn other_tables_are_none_of_our_business() {
    for sql in [
        "DELETE FROM orders ORDER BY created_at LIMIT 1000",
        "DELETE FROM outbox WHERE sent = true",
        "DELETE FROM sessions ORDER BY id LIMIT 10",
        "DELETE FROM user_inbox ORDER BY id LIMIT 10",
        "DELETE FROM orders WHERE id IN (SELECT order_id FROM inbox ORDER BY id LIMIT 10)",
        "GRANT DELETE ON inbox TO app",
        "CREATE TABLE inbox (a int REFERENCES b ON DELETE CASCADE)",
        "-- DELETE FROM inbox ORDER BY id LIMIT 1\nSELECT 'DELETE FROM inbox ORDER BY id LIMIT 1'",
        "DELETE FROM event_log ORDER BY id LIMIT 10",
        "DROP TABLE inbox_2026_01; ALTER TABLE inbox DETACH PARTITION inbox_2026_01",
    ] {
        assert_eq!(bounds(sql), [], "{sql}");
    }
    each_is(
        Count,
        &[
            "CREATE TABLE event_log (event_id uuid, at timestamptz); DELETE FROM event_log ORDER BY at LIMIT 10",
            "CREATE TABLE api_calls (idempotency_key text, response jsonb, t bigint); DELETE FROM api_calls ORDER BY t LIMIT 10",
            "DELETE FROM processed_payment_events ORDER BY id LIMIT 10",
            "DELETE FROM shop.orders_dlq ORDER BY id LIMIT 10",
            "DELETE FROM wolverine.wolverine_incoming_envelopes WHERE id IN (SELECT id FROM wolverine.wolverine_incoming_envelopes LIMIT 10)",
        ],
    );
}

#[test]
fn the_type_of_a_column_tells_its_time() {
    let sql = "CREATE TABLE inbox (id bigint, seen timestamptz NOT NULL);\nDELETE FROM inbox WHERE seen < now() - interval '9 days' LIMIT 10;";
    assert_eq!(bounds(sql), [Age]);
}

#[test]
fn everything_fires_where_it_runs_again_and_again() {
    each_is(
        Everything,
        &[
            "SELECT cron.schedule('nightly', '0 3 * * *', 'DELETE FROM inbox')",
            "SELECT cron.schedule('0 3 * * *', $$TRUNCATE inbox$$)",
            "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM inbox",
            "CREATE FUNCTION purge_inbox() RETURNS void AS $$ BEGIN DELETE FROM inbox; END $$ LANGUAGE plpgsql",
            "DELIMITER //\nCREATE PROCEDURE cleanup()\nBEGIN\n DELETE FROM inbox;\nEND//\nDELIMITER ;\n",
            "EXEC msdb.dbo.sp_add_jobstep @job_name = N'purge', @command = N'DELETE FROM dbo.Inbox'",
            "DELETE FROM inbox WHERE created_at > now() - interval '1 day'",
        ],
    );
    let (facts, _) = read("db/purge_inbox.sql", "DELETE FROM inbox;");
    assert_eq!(facts.purges[0].bound, Everything);
    for path in ["tests/purge.sql", "db/seeds/cleanup.sql", "migrations/0001_purge.down.sql"] {
        let (facts, _) = read(path, "DELETE FROM inbox;");
        assert_eq!(facts.purges[0].bound, Other, "{path}");
    }
}

#[test]
fn a_count_that_is_tested_before_is_a_bound() {
    let trigger = "CREATE FUNCTION keep() RETURNS trigger AS $$\nDECLARE n int;\nBEGIN\n  SELECT count(*) INTO n FROM inbox;\n  IF n > 1000 THEN\n    DELETE FROM inbox WHERE id < old_id;\n  END IF;\n  RETURN NULL;\nEND $$ LANGUAGE plpgsql;";
    assert_eq!(bounds(trigger), [Count]);
    assert_eq!(places(trigger)[0].1.as_deref(), Some("count(*) INTO n FROM inbox"));
    each_is(
        Count,
        &[
            "WHILE (SELECT COUNT(*) FROM dbo.inbox) > 100000 DELETE TOP (1000) FROM dbo.inbox",
            "CREATE TRIGGER cap AFTER INSERT ON inbox WHEN (SELECT count(*) FROM inbox) > 9000 BEGIN DELETE FROM inbox; END;",
        ],
    );
    let by_age = "WHILE (SELECT COUNT(*) FROM inbox WHERE created_at < @t) > 0 DELETE TOP (1000) FROM inbox WHERE created_at < @t";
    assert_eq!(bounds(by_age), [Age]);
}

#[test]
fn one_statement_that_cannot_be_read_loses_itself_alone() {
    let sql = "CREATE TABEL nonsense (((;\nDELETE FROM inbox ORDER BY id LIMIT 5;\nDELETE FROM inbox WHERE ~~ !! ;\nMERGE !! x;\nDELETE FROM inbox WHERE created_at < $1;";
    let (facts, file) = read("a.sql", sql);
    assert_eq!(facts.purges.iter().map(|p| p.bound).collect::<Vec<_>>(), [Count, Age]);
    assert_eq!(facts.unread.len(), 1);
    assert!(facts.unread[0].reason.starts_with("the purge of inbox cannot be read: "), "{}", facts.unread[0].reason);
    assert_eq!(&file.text[facts.unread[0].span.unwrap().range()], "DELETE FROM inbox");
    assert_eq!(facts.unread[0].span.unwrap().start as usize, sql.rfind("DELETE FROM inbox WHERE ~~").unwrap());
}

#[test]
fn routines_of_every_dialect_are_looked_into() {
    let mysql = "DELIMITER $$\nCREATE PROCEDURE p()\nBEGIN\n  DECLARE done INT DEFAULT 0;\n  REPEAT\n    DELETE FROM inbox WHERE status = 'it''s' ORDER BY id LIMIT 10;\n  UNTIL ROW_COUNT() = 0 END REPEAT;\nEND$$\nDELIMITER ;\nDELETE FROM inbox WHERE created_at < NOW() - INTERVAL 9 DAY;";
    assert_eq!(bounds(mysql), [Count, Age]);
    let tsql = "CREATE PROCEDURE dbo.Purge AS\nBEGIN\n  WHILE 1 = 1\n  BEGIN\n    DELETE TOP (100) FROM dbo.Inbox\n    IF @@ROWCOUNT < 100 BREAK\n  END\nEND\nGO\nDELETE FROM dbo.Inbox WITH (ROWLOCK) WHERE CreatedAt < DATEADD(day, -9, GETDATE())\nGO\n";
    assert_eq!(bounds(tsql), [Count, Age]);
    let plpgsql = "DO $do$ BEGIN EXECUTE 'DELETE FROM inbox WHERE created_at < now() - interval ''9 days'''; PERFORM 1; DELETE FROM inbox WHERE id IN (SELECT id FROM inbox LIMIT 5); END $do$;";
    assert_eq!(bounds(plpgsql), [Age, Count]);
    let dump = "COPY notes (a) FROM stdin;\nDELETE FROM inbox ORDER BY id LIMIT 1;\n\\.\n\nDELETE FROM inbox WHERE created_at < $1;";
    assert_eq!(bounds(dump), [Age]);
}

#[test]
fn places_are_exact() {
    let sql =
        "-- 재시도\r\n  DELETE FROM shop.inbox\r\n  WHERE x IS NULL /* 注 */\r\n  ORDER BY created_at LIMIT 1000;\n";
    assert_eq!(places(sql), [("DELETE FROM shop.inbox".into(), Some("ORDER BY created_at LIMIT 1000".into()))]);
    let some = |s: &str| Some(s.to_string());
    for (sql, head, bound) in [
        ("DELETE TOP (5000) FROM dbo.inbox WHERE 1=1", "DELETE TOP (5000) FROM dbo.inbox", some("TOP (5000)")),
        ("WITH c AS (SELECT TOP (5) id FROM inbox ORDER BY d) DELETE FROM c", "DELETE FROM c", some("TOP (5)")),
        ("delete from \"inbox\" where status = 'done'", "delete from \"inbox\"", some("status = 'done'")),
        ("DELETE FROM inbox WHERE id < (SELECT max(id) - 10 FROM inbox)", "DELETE FROM inbox", some("max(id) - 10")),
        ("DELETE FROM inbox WHERE a = 'é' AND rownum <= 10", "DELETE FROM inbox", some("rownum <= 10")),
        (
            "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox ORDER BY 한 DESC LIMIT 5 OFFSET 10 FOR UPDATE)",
            "DELETE FROM inbox",
            some("ORDER BY 한 DESC LIMIT 5 OFFSET 10"),
        ),
        (
            "SELECT cron.schedule('x', $$DELETE FROM inbox ORDER BY id LIMIT 5$$)",
            "DELETE FROM inbox",
            some("ORDER BY id LIMIT 5"),
        ),
        ("DELETE FROM inbox WHERE created_at < now()", "DELETE FROM inbox", None),
        ("TRUNCATE TABLE ONLY shop.inbox CASCADE", "TRUNCATE TABLE ONLY shop.inbox", None),
        (
            "EXECUTE 'DELETE FROM inbox WHERE s = ''x'' ORDER BY id LIMIT 7'",
            "DELETE FROM inbox",
            some("ORDER BY id LIMIT 7"),
        ),
    ] {
        assert_eq!(places(sql), [(head.to_string(), bound)], "{sql}");
    }
}

#[test]
fn common_tables_are_asked_once_however_often_they_are_named() {
    let eight = |name: &str| [name; 8].join(", ");
    let itself =
        format!("WITH RECURSIVE a AS (SELECT id FROM {}) DELETE FROM inbox WHERE id IN (SELECT id FROM a)", eight("a"));
    assert_eq!(bounds(&itself), [Other]);
    let chain = |first: &str| {
        let tables = (1..14).map(|i| format!(", a{i} AS (SELECT id FROM {})", eight(&format!("a{}", i - 1))));
        let tables: String = tables.collect();
        format!("WITH a0 AS ({first}){tables} DELETE FROM inbox WHERE id IN (SELECT id FROM a13)")
    };
    assert_eq!(bounds(&chain("SELECT id FROM inbox WHERE received_at < now() - interval '30 days'")), [Age]);
    assert_eq!(bounds(&chain("SELECT id FROM inbox WHERE status = 'done'")), [Status]);
    assert_eq!(bounds(&chain("SELECT id FROM inbox ORDER BY id DESC LIMIT 1000")), [Count]);
}

#[test]
fn routines_of_many_statements_end() {
    let count = |i: usize| format!("SELECT count(*) INTO n FROM t{i};\nDELETE FROM old_{i} WHERE a = 1;\n");
    let counts: String = (0..20_000).map(count).collect();
    let last = "SELECT count(*) INTO n FROM inbox;\nIF n > 100 THEN DELETE FROM inbox; END IF;";
    let start = std::time::Instant::now();
    for counted_first in [true, false] {
        let body = if counted_first { format!("{last}{counts}") } else { format!("{counts}{last}") };
        let (facts, _) = read("jobs.sql", &format!("CREATE PROCEDURE purge() BEGIN {body} END;"));
        let bounds: Vec<PurgeBound> = facts.purges.iter().map(|p| p.bound).collect();
        // Of what counts thousands of tables nobody knows which one it is about.
        assert_eq!(bounds, [if counted_first { Count } else { Everything }]);
    }
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 60.0, "{seconds} s");
}

#[test]
fn hostile_scripts_end() {
    let deep = |n: usize| format!("DELETE FROM inbox WHERE {}a = 1{}", "(".repeat(n), ")".repeat(n));
    let (facts, _) = read("a.sql", &deep(10_000));
    assert_eq!((facts.purges.len(), facts.unread.len()), (0, 1));
    let (facts, _) = read("a.sql", &format!("DELETE FROM inbox WHERE a = 1{}", " OR a = 1".repeat(100_000)));
    assert_eq!((facts.purges.len(), facts.unread.len()), (0, 1));
    for sql in [
        "DELETE",
        "DELETE FROM",
        "DELETE FROM inbox WHERE",
        "TRUNCATE",
        "TRUNCATE inbox,",
        "WITH",
        "WITH a AS",
        "WITH a AS (DELETE FROM inbox",
        "DELETE FROM inbox WHERE a = '",
        "DELETE FROM \"inbox",
        "$$ DELETE FROM inbox",
        "DELETE FROM [inbox",
        "/* DELETE FROM inbox",
        "DELIMITER\nDELETE FROM inbox",
        "\u{feff}DELETE FROM inbox",
        "DELETE\u{0}FROM inbox",
        "WITH RECURSIVE c AS (SELECT * FROM c) DELETE FROM c",
        "DELETE TOP",
        "DELETE TOP (",
        "DELETE TOP ( FROM inbox",
        "é DELETE FROM inbox é",
        "$é$ DELETE FROM inbox $é$",
        "COPY inbox FROM stdin; DELETE",
        "WITH c AS (SELECT * FROM inbox JOIN c ON 1=1) DELETE FROM inbox USING c WHERE inbox.id = c.id",
    ] {
        read("a.sql", sql);
        read("a.sql", &format!("{sql};{sql}\r\n{sql}"));
    }
    read("a.sql", &"'".repeat(100_001).replace("'''", "'delete inbox '"));
    read("a.sql", &"$a$ delete from inbox ".repeat(10_000));
    read("a.sql", &"DELETE FROM inbox WITH ".repeat(10_000));
    read("a.sql", &"EXECUTE 'DELETE FROM inbox' ".repeat(10_000));
}

fn redrives(sql: &str) -> Vec<(String, Vec<RedriveLack>)> {
    let file = SourceFile { id: FileId(0), path: "ops/replay.sql".into(), text: sql.into() };
    let mut facts = Facts::default();
    super::extract(&file, &mut facts);
    facts.redrives.into_iter().map(|r| (sql[r.place.range()].to_owned(), r.lacks)).collect()
}

#[test]
fn statements_that_send_dead_letters_back() {
    use RedriveLack::{Bound, Choice};
    for (sql, place, lacks) in [
        ("UPDATE wolverine_dead_letters SET replayable = true;", "UPDATE wolverine_dead_letters", vec![Bound, Choice]),
        ("UPDATE dead_letters SET status = 'pending' WHERE exception_type = 'T'", "UPDATE dead_letters", vec![Bound]),
        ("INSERT INTO jobs (payload) SELECT original FROM dead_letters;", "INSERT INTO jobs", vec![Bound, Choice]),
        (
            "INSERT INTO [dbo].[Queue] SELECT TOP (10) Body FROM dbo.DeadLetters",
            "INSERT INTO [dbo].[Queue]",
            vec![Choice],
        ),
        (
            "WITH b AS (SELECT id FROM dead_letters WHERE reason LIKE 'x%' LIMIT 50) INSERT INTO jobs (payload) \
             SELECT d.original FROM dead_letters d JOIN b USING (id)",
            "INSERT INTO jobs",
            vec![],
        ),
    ] {
        assert_eq!(redrives(sql), [(place.to_owned(), lacks)], "{sql}");
    }
    for sql in [
        "INSERT INTO jobs SELECT original FROM dead_letters WHERE id = $1",
        "INSERT INTO jobs SELECT original FROM dead_letters WHERE id IN (1, 2)",
        "INSERT INTO dead_letters_archive SELECT * FROM dead_letters",
        "INSERT INTO dead_letters SELECT * FROM jobs WHERE attempts > 5",
        "INSERT INTO job_history SELECT * FROM dead_letters",
        "UPDATE dead_letters SET status = 'resolved'",
        "UPDATE orders SET status = 'pending'",
        "CREATE TRIGGER t AFTER INSERT ON dead_letters FOR EACH ROW EXECUTE FUNCTION tell()",
    ] {
        assert_eq!(redrives(sql), [], "{sql}");
    }
}
