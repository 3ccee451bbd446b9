//! What is said of SQL is what a database does: the fixtures' statements, run on SQLite and on PostgreSQL.
//!
//! PostgreSQL is reached by `psql` with the connection string in `TEST_DATABASE`. Without one its part is skipped, and
//! says so; where `CI_REQUIRES_ALL` is set that is a failure.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use retrylint::config::Config;
use retrylint::facts::Facts;
use retrylint::model::PurgeBound;
use retrylint::source::{FileId, SourceFile};
use retrylint::systems::sql;
use rusqlite::Connection;

fn fixture(path: &str) -> String {
    let path = format!("{}/fixtures/sql/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The statements of a file of purges, each with what is said of it.
fn purges(path: &str) -> Vec<(String, PurgeBound)> {
    let schema = fixture("purges/schema.sql");
    let statements = fixture(path);
    let read = |statement: &str| {
        let text = format!("{schema}\n{statement}");
        let file = SourceFile { id: FileId(0), path: path.into(), text: text.into() };
        let mut facts = Facts::default();
        sql::extract(&file, &mut facts);
        let [purge] = facts.purges.as_slice() else { panic!("{statement}: {:?} {:?}", facts.purges, facts.unread) };
        (statement.to_owned(), purge.bound)
    };
    statements.split("\n\n").map(read).collect()
}

/// Records that are older than the window, and those of one busy hour.
const OLD: usize = 100;
const FRESH: usize = 3000;

/// Whether a purge left what it had to leave: by age it takes the old ones only, in every other way it takes fresh ones.
fn judge(statement: &str, bound: PurgeBound, old: usize, fresh: usize) {
    if bound == PurgeBound::Age {
        assert_eq!((old, fresh), (0, FRESH), "{statement}: is said to go by age");
    } else {
        assert!(fresh < FRESH, "{statement}: is said to go {bound:?}, and left every fresh record");
    }
}

#[test]
fn purges_on_sqlite() {
    for (statement, bound) in purges("purges/sqlite.sql") {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(&fixture("purges/schema.sql")).unwrap();
        let fill = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})
             INSERT INTO inbox SELECT i, 'm' || i, 'done',
                 datetime('now', CASE WHEN i <= {OLD} THEN '-40 days' ELSE '-' || (3600 - i) || ' seconds' END) FROM n;",
            OLD + FRESH
        );
        db.execute_batch(&fill).unwrap();
        db.execute_batch(&statement).unwrap_or_else(|e| panic!("{statement}: {e}"));
        let count = |test: &str| -> usize {
            let sql = format!("SELECT count(*) FROM inbox WHERE created_at {test} datetime('now', '-1 day')");
            db.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap() as usize
        };
        judge(&statement, bound, count("<"), count(">="));
    }
}

#[test]
fn purges_on_postgres() {
    let Some(db) = Postgres::new("purges") else { return };
    for (statement, bound) in purges("purges/postgres.sql") {
        db.run(&format!("DROP TABLE IF EXISTS inbox; {}", fixture("purges/schema.sql")));
        db.run(&format!(
            "INSERT INTO inbox SELECT i, 'm' || i, 'done', now() - CASE WHEN i <= {OLD} THEN interval '40 days' \
             ELSE (3600 - i) * interval '1 second' END FROM generate_series(1, {}) AS i",
            OLD + FRESH
        ));
        db.run(&statement);
        let count = |test: &str| -> usize {
            let sql = format!("SELECT count(*) FROM inbox WHERE created_at {test} now() - interval '1 day'");
            db.run(&sql).parse().unwrap()
        };
        judge(&statement, bound, count("<"), count(">="));
    }
}

/// The statements of the fixture that looks first, as found, and that of the one that inserts first.
struct Claims {
    look: String,
    insert: String,
    claim: String,
}

fn claims() -> Claims {
    let cwd = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/sql/claims");
    let config = Config::without_file(&cwd);
    let inputs = retrylint::Inputs { cwd, paths: vec![".".into()], ..retrylint::Inputs::default() };
    let run = retrylint::run(&inputs, &config).unwrap();
    let [check] = run.model.checks.as_slice() else { panic!("{:?}", run.model.checks) };
    assert_eq!(check.function, "looks_first");
    let text = |span| run.sources.text(span).trim_end_matches('"').to_owned();
    let code = fixture("claims/src/lib.rs");
    let claim = code.lines().find(|line| line.contains("ON CONFLICT")).unwrap();
    let claim = claim.split('"').nth(1).unwrap().to_owned();
    Claims { look: text(check.select), insert: text(check.insert), claim }
}

#[test]
fn two_at_the_same_time_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let claims = claims();
    let open = |name: &str| Connection::open(folder.path().join(name)).unwrap();
    let finds = |db: &Connection| db.prepare(&claims.look).unwrap().exists(["e1"]).unwrap();
    let rows = |db: &Connection| -> i64 {
        db.query_row("SELECT count(*) FROM processed_events", [], |row| row.get(0)).unwrap()
    };

    // Nothing stops the second.
    let (a, b) = (open("plain.db"), open("plain.db"));
    a.execute_batch(&fixture("claims/schema.sql")).unwrap();
    assert!(!finds(&a) && !finds(&b), "both look before either has inserted");
    assert_eq!([a.execute(&claims.insert, ["e1"]).unwrap(), b.execute(&claims.insert, ["e1"]).unwrap()], [1, 1]);
    assert_eq!(rows(&a), 2, "the event is recorded twice: it was handled twice");

    // The constraint does, if late: the second has done its work by then.
    let (a, b) = (open("unique.db"), open("unique.db"));
    a.execute_batch(&(fixture("claims/schema.sql") + &fixture("claims/unique.sql"))).unwrap();
    assert!(!finds(&a) && !finds(&b));
    assert_eq!(a.execute(&claims.insert, ["e1"]).unwrap(), 1);
    let error = b.execute(&claims.insert, ["e1"]).unwrap_err();
    assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::ConstraintViolation));

    // Inserting first tells the two apart before any work.
    assert_eq!([a.execute(&claims.claim, ["e2"]).unwrap(), b.execute(&claims.claim, ["e2"]).unwrap()], [1, 0]);
    assert_eq!(rows(&a), 2, "one for each event");
}

#[test]
fn two_at_the_same_time_on_postgres() {
    let Some(db) = Postgres::new("claims") else { return };
    let claims = claims();
    let given = |sql: &str, id: &str| sql.replace("$1", &format!("'{id}'"));
    db.run(&fixture("claims/schema.sql"));
    db.run("CREATE TABLE looked (who integer)");

    let session = |id: &str| {
        format!(
            "SELECT count(*) = 0 AS absent FROM ({}) AS found \\gset\n\
             INSERT INTO looked VALUES (1);\n{WAIT}\
             \\if :absent\n{};\n\\endif\n",
            given(&claims.look, id),
            given(&claims.insert, id)
        )
    };
    let [a, b] = db.together(&session("e1"));
    assert!(a.status.success() && b.status.success(), "{a:?} {b:?}");
    assert_eq!(db.run("SELECT count(*) FROM processed_events"), "2", "nothing stops the second");

    db.run("TRUNCATE processed_events, looked");
    db.run(&fixture("claims/unique.sql"));
    let [a, b] = db.together(&session("e1"));
    assert!(a.status.success() != b.status.success(), "one of the two gets an error: {a:?} {b:?}");
    assert_eq!(db.run("SELECT count(*) FROM processed_events"), "1");

    db.run("TRUNCATE processed_events, looked");
    let claim = format!("INSERT INTO looked VALUES (1);\n{WAIT}{} RETURNING event_id;\n", given(&claims.claim, "e2"));
    let [a, b] = db.together(&claim);
    assert!(a.status.success() && b.status.success(), "{a:?} {b:?}");
    let made = [a, b].map(|out| String::from_utf8_lossy(&out.stdout).contains("e2"));
    assert!(made[0] != made[1], "one of the two is told that it is the first");
    assert_eq!(db.run("SELECT count(*) FROM processed_events"), "1");
}

/// What stands between the look and the insert, where nothing is unique: how many records there are in the end.
fn guarded(db: &Postgres, begin: &str, look: &str) -> String {
    let claims = claims();
    let given = |sql: &str| sql.replace("$1", "'e3'");
    db.run("TRUNCATE processed_events, looked");
    let session = format!(
        "INSERT INTO looked VALUES (1);\n{WAIT}{begin}\n\
         SELECT count(*) = 0 AS absent FROM ({}{look}) AS found \\gset\n\
         SELECT pg_sleep(0.2);\n\\if :absent\n{};\n\\endif\nCOMMIT;\n",
        given(&claims.look),
        given(&claims.insert)
    );
    db.together(&session);
    db.run("SELECT count(*) FROM processed_events")
}

#[test]
fn what_makes_a_look_before_an_insert_right_on_postgres() {
    let Some(db) = Postgres::new("guards") else { return };
    db.run(&fixture("claims/schema.sql"));
    db.run("CREATE TABLE looked (who integer)");
    // There is no row yet that could be locked.
    assert_eq!(guarded(&db, "BEGIN;", " FOR UPDATE"), "2", "a transaction, and rows for update");
    assert_eq!(guarded(&db, "BEGIN ISOLATION LEVEL SERIALIZABLE;", ""), "1", "one of the two is told to try again");
    assert_eq!(guarded(&db, "BEGIN; SELECT pg_advisory_xact_lock(3);", ""), "1", "the second looks after the first");
}

/// Until both sessions are there, 10 seconds at most.
const WAIT: &str = "DO $$ BEGIN FOR i IN 1..1000 LOOP \
                    EXIT WHEN (SELECT count(*) FROM looked) >= 2; PERFORM pg_sleep(0.01); END LOOP; END $$;\n";

/// A schema of its own in the database of the tests.
struct Postgres {
    connection: String,
    schema: String,
}

impl Postgres {
    fn new(name: &str) -> Option<Self> {
        let Ok(connection) = std::env::var("TEST_DATABASE") else {
            assert!(std::env::var_os("CI_REQUIRES_ALL").is_none(), "TEST_DATABASE is not set, and must be here");
            // Not by a macro: what those print of a test that passes is not shown.
            let _ = writeln!(std::io::stderr(), "skipped: PostgreSQL is not asked, since TEST_DATABASE is not set");
            return None;
        };
        let schema = format!("retrylint_{name}_{}", std::process::id());
        let db = Self { connection, schema };
        db.run(&format!("CREATE SCHEMA {}", db.schema));
        Some(db)
    }

    fn psql(&self) -> Command {
        let mut command = Command::new("psql");
        command.args([
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--no-align",
            "--set",
            "ON_ERROR_STOP=1",
            &self.connection,
        ]);
        command.env("PGOPTIONS", format!("-c search_path={}", self.schema));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, script: &str) -> std::process::Child {
        let mut child = self.psql().spawn().unwrap_or_else(|e| panic!("psql: {e}"));
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        child
    }

    /// What a script prints.
    fn run(&self, script: &str) -> String {
        let out = self.start(script).wait_with_output().unwrap();
        assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    /// The same script in two sessions at once.
    fn together(&self, script: &str) -> [Output; 2] {
        let both = [self.start(script), self.start(script)];
        both.map(|child| child.wait_with_output().unwrap())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.start(&format!("DROP SCHEMA {} CASCADE", self.schema)).wait_with_output();
    }
}
