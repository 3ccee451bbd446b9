use super::{Handling, read, texts};
use crate::facts::Facts;
use crate::model::{PurgeBound, RecordPart, RedriveLack};
use crate::rust::lower::lower;
use crate::source::{FileId, SourceFile, Sources};

fn facts(files: &[(&str, &str)]) -> (Facts, Sources) {
    let mut facts = Facts::default();
    let mut sources = Vec::new();
    for (n, (path, text)) in (0..).zip(files) {
        let file = SourceFile { id: FileId(n), path: (*path).into(), text: (*text).into() };
        let module = lower(&file, false).unwrap_or_else(|e| panic!("{path}: {e:?}"));
        texts::extract(&file, &module, &mut facts);
        facts.modules.push(module);
        sources.push(file);
    }
    (facts, sources.into_iter().collect())
}

fn handling(code: &str) -> (Handling, Sources) {
    let (facts, sources) = facts(&[("src/lib.rs", code)]);
    (read(&facts.modules, &[], &[], &sources), sources)
}

const SELECT: &str = r#"sqlx::query("SELECT 1 FROM inbox WHERE msg_id = $1").bind(id).fetch_optional(db).await?"#;
const INSERT: &str = r#"sqlx::query("INSERT INTO inbox (msg_id) VALUES ($1)").bind(id).execute(db).await?"#;

fn checks(body: &str) -> usize {
    let code = format!("async fn f(db: &Pool, id: &str) -> Result<bool> {{ {body} }}");
    handling(&code).0.checks.len()
}

#[test]
fn a_look_that_decides_before_an_insert() {
    for body in [
        format!("let seen = {SELECT}; if seen.is_some() {{ return Ok(false); }} {INSERT}; Ok(true)"),
        format!("if {SELECT}.is_none() {{ {INSERT}; }} Ok(true)"),
        // There is no row yet that it could lock, and a transaction of the usual kind sees no other one's rows.
        format!("if {}.is_none() {{ {INSERT}; }} Ok(true)", SELECT.replace("= $1\"", "= $1 FOR UPDATE\"")),
        format!("let tx = db.begin().await?; if {SELECT}.is_none() {{ {INSERT}; }} tx.commit().await?; Ok(true)"),
        format!("match {SELECT} {{ Some(_) => Ok(false), None => {{ {INSERT}; Ok(true) }} }}"),
        format!("let None = {SELECT} else {{ return Ok(false) }}; {INSERT}; Ok(true)"),
        format!("let row = {SELECT}; let n: i64 = row.get(0); if n > 0 {{ return Ok(false); }} {INSERT}; Ok(true)"),
        format!("let seen = {SELECT}; if let Some(r) = seen {{ return Ok(r); }} work().await?; {INSERT}; Ok(true)"),
    ] {
        assert_eq!(checks(&body), 1, "{body}");
    }
}

#[test]
fn what_is_right_or_something_else() {
    let conflict = INSERT.replace("($1)\"", "($1) ON CONFLICT DO NOTHING\"");
    for body in [
        format!("{INSERT}; let seen = {SELECT}; Ok(seen.is_some())"),
        format!("let seen = {SELECT}; log(seen); {INSERT}; Ok(true)"),
        format!("let seen = {SELECT}; if seen.is_some() {{ return Ok(false); }} {conflict}; Ok(true)"),
        format!("q(\"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE\"); if {SELECT}.is_none() {{ {INSERT}; }} Ok(true)"),
        format!(
            "let tx = c.transaction_with_behavior(TransactionBehavior::Immediate)?; if {SELECT}.is_none() {{ {INSERT}; }} Ok(true)"
        ),
        format!("lock(\"SELECT pg_advisory_xact_lock($1)\"); if {SELECT}.is_none() {{ {INSERT}; }} Ok(true)"),
        format!(
            "if {SELECT}.is_none() {{ if let Err(e) = insert(db) {{ e.is_unique_violation(); }} {INSERT}; }} Ok(true)"
        ),
        format!("if other {{ {SELECT}; {INSERT}; }} Ok(true)"),
        format!("if {}.is_none() {{ {}; }} Ok(true)", SELECT.replace("inbox", "tags"), INSERT.replace("inbox", "tags")),
        format!("if {}.is_none() {{ {INSERT}; }} Ok(true)", SELECT.replace(" WHERE msg_id = $1", "")),
        format!("if {SELECT}.is_none() {{ {}; }} Ok(true)", INSERT.replace("inbox", "orders")),
    ] {
        assert_eq!(checks(&body), 0, "{body}");
    }
}

#[test]
fn places_are_those_of_the_statements() {
    let code = "const SEEN: &str = \"SELECT 1 FROM inbox WHERE msg_id = $1\";\n\
        async fn f(db: &Pool) -> R { if q(SEEN).await?.is_none() { q(\"  INSERT INTO inbox (msg_id) VALUES (1)\").await?; } ok() }";
    let (found, sources) = handling(code);
    let [check] = found.checks.as_slice() else { panic!("{found:?}") };
    assert!(sources.text(check.select).starts_with("SELECT 1"));
    assert!(sources.text(check.insert).starts_with("INSERT INTO"));
}

#[test]
fn one_that_calls_both_is_found_and_its_caller_is_not() {
    let code = format!(
        "async fn seen(db: &P, id: &str) -> R {{ Ok({SELECT}.is_some()) }}
         async fn mark(db: &P, id: &str) -> R {{ {INSERT}; Ok(()) }}
         async fn once(db: &P, id: &str) -> R {{ if seen(db, id).await? {{ return Ok(()); }} mark(db, id).await }}
         async fn outer(db: &P, id: &str) -> R {{ once(db, id).await }}"
    );
    let (found, _) = handling(&code);
    assert_eq!(found.checks.iter().map(|c| &*c.function).collect::<Vec<_>>(), ["once"]);
}

#[test]
fn of_several_helpers_of_a_name_the_receiver_tells_which() {
    let repositories = format!(
        "impl InboxRepository {{ async fn exists(&self, db: &P, id: &str) -> R {{ Ok({SELECT}.is_some()) }}
                                 async fn insert(&self, db: &P, id: &str) -> R {{ {INSERT}; Ok(()) }} }}
         impl OrderRepository {{ async fn exists(&self, db: &P, id: &str) -> R {{ q(\"SELECT 1 FROM orders WHERE id = $1\").await }}
                                 async fn insert(&self, db: &P, id: &str) -> R {{ q(\"INSERT INTO orders (id) VALUES ($1)\").await }} }}"
    );
    let found = |body: &str| {
        handling(&format!("{repositories} async fn once(s: &S, id: &str) -> R {{ {body} }}")).0.checks.len()
    };
    assert_eq!(found("if s.inbox.exists(db, id).await? { return Ok(()); } s.inbox.insert(db, id).await"), 1);
    assert_eq!(found("if s.inbox.exists(db, id).await? { return Ok(()); } s.order.insert(db, id).await"), 0);
    assert_eq!(found("if s.order.exists(db, id).await? { return Ok(()); } s.order.insert(db, id).await"), 0);
}

fn purges(code: &str) -> Vec<(PurgeBound, Option<u64>, String)> {
    let (facts, sources) = facts(&[("src/lib.rs", code)]);
    let purges = facts.purges.iter();
    purges.map(|p| (p.bound, p.age.map(|(a, _)| a.as_secs()), sources.text(p.place).to_owned())).collect()
}

#[test]
fn purges_in_texts() {
    let by_count = r#"const OLD: &str = "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox ORDER BY id LIMIT 100)";"#;
    assert_eq!(purges(by_count), [(PurgeBound::Count, None, "DELETE FROM inbox".to_owned())]);
    let by_age = r#"fn f() { q("DELETE FROM inbox WHERE created_at < now() - interval '2 hours'"); }"#;
    assert_eq!(purges(by_age), [(PurgeBound::Age, Some(7200), "DELETE FROM inbox".to_owned())]);
    let bound = r#"const KEPT: i64 = 3; fn f() { let before = Utc::now() - Duration::days(KEPT); q("DELETE FROM inbox WHERE created_at < $1").bind(before); }"#;
    assert_eq!(purges(bound), [(PurgeBound::Age, Some(3 * 86_400), "DELETE FROM inbox".to_owned())]);
    let given = r#"fn f(t: T) { let a = x - Duration::days(1); let b = y - Duration::days(2); q("DELETE FROM inbox WHERE created_at < $1").bind(t); }"#;
    assert_eq!(purges(given), [(PurgeBound::Age, None, "DELETE FROM inbox".to_owned())]);
    let raw = "fn f() { q(r#\"\n  DELETE FROM inbox\n  ORDER BY id LIMIT 5\"#); }";
    assert_eq!(purges(raw), [(PurgeBound::Count, None, "DELETE FROM inbox".to_owned())]);
}

#[test]
fn pieces_of_statements_and_other_texts_say_nothing() {
    for code in [
        r#"fn purge() { let mut q = QueryBuilder::new("DELETE FROM inbox "); q.push(" WHERE a < 1"); }"#,
        r#"fn purge() { let s = concat!("DELETE FROM inbox ", "WHERE created_at < now()"); }"#,
        r#"fn purge() { let s = "DELETE FROM inbox".to_string() + " WHERE created_at < now()"; }"#,
        r#"fn f() { q("DELETE FROM inbox WHERE msg_id = $1"); }"#,
        r#"fn f() { q("DELETE FROM sessions ORDER BY id LIMIT 5"); }"#,
        r#"fn f() { q("delete the inbox by hand, oldest first"); }"#,
        "#[cfg(test)] mod tests { fn purge() { q(\"DELETE FROM inbox ORDER BY id LIMIT 1\"); } }",
    ] {
        assert_eq!(purges(code), [], "{code}");
    }
}

fn redrives(code: &str) -> Vec<(String, Vec<RedriveLack>)> {
    let (found, sources) = handling(code);
    let all = found.redrives.into_iter();
    all.map(|r| (sources.text(r.place).chars().take(12).collect(), r.lacks)).collect()
}

const LOOP: &str = "loop { let out = c.receive_message().queue_url(dlq).send().await?; PAUSE
    for m in out.messages { c.send_message().queue_url(src).message_body(m.body).send().await?; } }";

#[test]
fn loops_and_tasks_that_send_dead_letters_back() {
    use RedriveLack::{Bound, Choice, Record};
    let all = format!("async fn redrive(c: &C, dlq: &str, src: &str) -> R {{ {} }}", LOOP.replace("PAUSE", ""));
    assert_eq!(redrives(&all), [("loop".to_owned(), vec![Bound, Choice, Record])]);
    let slow = all.replace("for m", "tokio::time::sleep(SECOND).await; info!(n, \"sent back\"); for m");
    assert_eq!(redrives(&slow), [("loop".to_owned(), vec![Choice])]);
    let table = r#"async fn replay(db: &P, q: &Q) -> R {
        let rows = sqlx::query("SELECT original FROM dead_letters").fetch_all(db).await?;
        for row in rows { q.publish(row.original).await?; } Ok(()) }"#;
    assert_eq!(redrives(table), [("for".to_owned(), vec![Bound, Choice, Record])]);
    let some = table.replace("dead_letters", "dead_letters WHERE reason = $1 LIMIT 50");
    assert_eq!(redrives(&some), [("for".to_owned(), vec![Record])]);
    let task = "async fn f(c: &C, a: &str) -> R { c.start_message_move_task().source_arn(a).send().await?; Ok(()) }";
    assert_eq!(redrives(task), [("c.start_mess".to_owned(), vec![Bound, Choice, Record])]);
    let slow = task.replace(".send()", ".max_number_of_messages_per_second(5).send()");
    assert_eq!(redrives(&slow), [("c.start_mess".to_owned(), vec![Record])]);
}

#[test]
fn what_sends_nothing_back() {
    let into = LOOP.replace("(dlq)", "(orders)").replace("(src)", "(orders_dlq)").replace("PAUSE", "");
    for body in [
        into.clone(),
        LOOP.replace("(dlq)", "(orders)").replace("PAUSE", ""),
        LOOP.replace("send_message", "delete_message").replace("PAUSE", ""),
    ] {
        let code = format!("async fn redrive(c: &C, dlq: &str, src: &str) -> R {{ {body} }}");
        assert_eq!(redrives(&code), [], "{code}");
    }
    // Not named for it: it may tell somebody of them.
    let other = format!("async fn watch(c: &C, dlq: &str, src: &str) -> R {{ {} }}", LOOP.replace("PAUSE", ""));
    assert_eq!(redrives(&other), []);
    let one = r#"async fn replay(db: &P, q: &Q) -> R {
        let rows = sqlx::query("SELECT original FROM dead_letters WHERE id = $1").fetch_all(db).await?;
        for row in rows { q.publish(row.original).await?; info!(id, "sent back"); } Ok(()) }"#;
    assert_eq!(redrives(one), [("for".to_owned(), vec![])]);
}

fn batches(body: &str) -> Vec<String> {
    let code =
        format!("async fn settle(db: &P, http: &Client) -> R {{ {body} Ok(()) }} async fn main() {{ settle().await }}");
    let (found, _) = handling(&code);
    assert!(found.batches.iter().all(|b| b.callers.contains(&("src/lib.rs".to_owned(), "main".to_owned()))));
    found.batches.into_iter().map(|b| b.does).collect()
}

const ROWS: &str = r#"let rows = sqlx::query("SELECT id, cents FROM invoices ORDER BY id").fetch_all(db).await?;"#;

#[test]
fn loops_that_do_something_for_each_row() {
    for (body, does) in [
        (format!("{ROWS} for r in rows {{ http.post(url).json(&r).send().await?; }}"), "a POST for each"),
        (
            format!("{ROWS} for r in rows.iter() {{ sqs.send_message().queue_url(q).send().await?; }}"),
            "a message for each",
        ),
        (
            format!(
                r#"{ROWS} for r in &rows {{ sqlx::query("INSERT INTO ledger (id) VALUES ($1)").execute(db).await?; }}"#
            ),
            "an INSERT for each",
        ),
        (
            r#"for line in reader.lines() { http.post(url).header("Idempotency-Key", Uuid::new_v4()).send().await?; }"#
                .to_owned(),
            "a POST for each",
        ),
    ] {
        assert_eq!(batches(&body), [does], "{body}");
    }
}

#[test]
fn loops_that_can_go_on_or_do_nothing_twice() {
    let post = "http.post(url).json(&r).send().await?;";
    for body in [
        format!("{} for r in rows {{ {post} }}", ROWS.replace("ORDER", "WHERE status = 'pending' ORDER")),
        format!(
            r#"{ROWS} for r in rows {{ {post} sqlx::query("UPDATE invoices SET done = true WHERE id = $1").execute(db).await?; }}"#
        ),
        format!(
            r#"{ROWS} for r in rows {{ sqlx::query("INSERT INTO t (id) VALUES ($1) ON CONFLICT DO NOTHING").execute(db).await?; }}"#
        ),
        format!(
            r#"let tx = db.begin().await?; {ROWS} for r in rows {{ sqlx::query("INSERT INTO t (id) VALUES ($1)").execute(tx).await?; }}"#
        ),
        format!("{ROWS} for r in rows {{ http.put(url).json(&r).send().await?; }}"),
        format!("{ROWS} for r in rows {{ {post} checkpoint(r.id)?; }}"),
        format!(r#"{ROWS} for r in rows {{ http.post(url).header("Idempotency-Key", key(&r)).send().await?; }}"#),
        format!("for n in 0..3 {{ {post} }}"),
        format!(
            r#"{ROWS} sqlx::query("DELETE FROM report").execute(db).await?; for r in rows {{ sqlx::query("INSERT INTO report (id) VALUES ($1)").execute(db).await?; }}"#
        ),
    ] {
        assert_eq!(batches(&body), [""; 0], "{body}");
    }
}

fn records(code: &str) -> Vec<(String, Vec<RecordPart>)> {
    let (found, sources) = handling(code);
    let all = found.records.into_iter();
    all.map(|r| (sources.text(r.place).chars().take(18).collect(), r.missing)).collect()
}

#[test]
fn records_of_dead_letters() {
    use RecordPart::{Attempts, FirstFailure, Original, Trace};
    let entry =
        "#[derive(Serialize)] pub struct DlqEntry { payload: Vec<u8>, error: String, failed_at: DateTime<Utc> }";
    let missing = vec![Attempts, FirstFailure, Trace];
    assert_eq!(records(entry), [("DlqEntry".to_owned(), missing.clone())]);
    let made =
        format!("{entry} fn park(p: P) -> DlqEntry {{ DlqEntry {{ payload: p.body, error, failed_at: now() }} }}");
    assert_eq!(records(&made), [("DlqEntry { payload".to_owned(), missing)]);
    let insert =
        r#"async fn park(db: &P) { q("INSERT INTO dead_letters (queue, error, failed_at) VALUES ($1, $2, now())"); }"#;
    assert_eq!(records(insert), [("INSERT INTO dead_l".to_owned(), vec![Original, Attempts, FirstFailure, Trace])]);
}

#[test]
fn whole_records_and_things_that_are_none() {
    for code in [
        "#[derive(Serialize)] struct ApiError { documentation_url: String, message: String } fn f(m: String) -> ApiError { ApiError { documentation_url: m.clone(), message: m } }",
        "#[derive(Serialize)] struct DeadLetter { original: Value, reason: String, attempts: u32, first_failed_at: T, \
         last_failed_at: T, trace_id: String }",
        "#[derive(Serialize)] struct DeadLetter { message: Message, failure: Failure }
         struct Failure { reason: String, attempts: u32, first: T, first_at: T, last_at: T, trace_id: String }",
        "#[derive(Serialize)] struct DeadLetter { payload: Vec<u8>, headers: HashMap<String, String>, first_at: T, last_at: T }",
        "#[derive(Deserialize)] struct DlqConfig { topic: String, data: String }",
        "#[derive(Serialize)] enum DeadLetterReason { Expired, Rejected }",
        "#[derive(Deserialize)] struct DeadLetter { payload: String }",
        "struct DlqClient { url: String, data: Client } fn f() { DlqClient { url, data }; }",
    ] {
        assert_eq!(records(code), [], "{code}");
    }
}

fn forgets(code: &str) -> Vec<(String, PurgeBound, Option<u64>)> {
    let (found, sources) = handling(code);
    let all = found.purges.into_iter();
    all.map(|p| (sources.text(p.place).to_owned(), p.bound, p.age.map(|(a, _)| a.as_secs()))).collect()
}

#[test]
fn caches_and_keys_that_forget() {
    for (code, place, bound, age) in [
        ("fn f() -> D { D { seen_ids: moka::future::Cache::builder().max_capacity(10_000).time_to_live(Duration::from_secs(60 * 60)).build() } }", "max_capacity", PurgeBound::Count, Some(3600)),
        ("fn f() -> D { D { recent: Mutex::new(LruCache::new(CAP)) } }
          impl D { fn first(&self, message_id: u64) -> bool { let id = message_id; let mut r = self.recent.lock().unwrap(); if r.contains(&id) { return false; } r.put(id, ()); true } }", "LruCache::new(CAP)", PurgeBound::Count, None),
        ("static SEEN: LazyLock<Mutex<LruCache<u64, ()>>> = LazyLock::new(|| Mutex::new(LruCache::new(CAP)));", "LruCache::new(CAP)", PurgeBound::Count, None),
        ("fn f() -> D { D { recent: Mutex::new(LruCache::new(CAP)) } }
          impl Dedup { fn first(&self, id: u64) -> bool { let mut r = self.recent.lock().unwrap(); if r.contains(&id) { return false; } r.put(id, ()); true } }", "LruCache::new(CAP)", PurgeBound::Count, None),
        ("fn f() { let seen = cached::SizedCache::with_size(1000); }", "cached::SizedCache::with_size(1000)", PurgeBound::Count, None),
        ("fn first(&mut self, msg: Msg) -> bool { if self.seen.len() >= self.cap { if let Some(old) = self.order.pop_front() { self.seen.remove(&old); } } self.seen.insert(msg.id) }", "remove", PurgeBound::Count, None),
        ("impl Dedup { fn first(&mut self, id: u64) -> bool { if self.recent.contains(&id) { return false; } self.recent.push_back(id); while self.recent.len() > 1000 { self.recent.pop_front(); } true } }", "pop_front", PurgeBound::Count, None),
        ("fn first(&mut self, delivery: &str) -> bool { let n = self.seen.len(); if n > 10_000 { self.seen.clear(); } self.seen.insert(delivery.to_owned()) }", "clear", PurgeBound::Count, None),
        ("async fn f(c: &mut C) { if c.llen(\"processed\").await? > 1000 { c.rpop(\"processed\", None).await?; } }", "rpop", PurgeBound::Count, None),
        ("#[cached(size = 100)] fn is_processed(id: u64) -> bool { look(id) }", "is_processed", PurgeBound::Count, None),
        ("async fn f(c: &C) { redis::cmd(\"XADD\").arg(\"dedup:ids\").arg(\"MAXLEN\").arg(\"~\").arg(1000).arg(\"*\").query_async(c).await; }", "arg", PurgeBound::Count, None),
        ("async fn f(c: &C) { c.ltrim(\"processed\", 0, 999).await; }", "ltrim", PurgeBound::Count, None),
        ("async fn f(c: &C, t: &str) { let key = format!(\"inbox:{t}\"); c.xtrim(key, StreamMaxlen::Approx(1000)).await; }", "xtrim", PurgeBound::Count, None),
        ("fn f(c: &C) { redis::cmd(\"ZREMRANGEBYRANK\").arg(\"seen:ids\").arg(0).arg(-1000).query(c); }", "arg", PurgeBound::Count, None),
        ("const TTL: u64 = 2 * 3600; fn f(c: &C, id: &str) { c.set_ex(format!(\"dedup:{id}\"), 1, TTL); }", "set_ex", PurgeBound::Age, Some(7200)),
        ("fn f(c: &C, id: &str) { let o = 1; c.set_options(format!(\"processed:{id}\"), 1, SetOptions::default().with_expiration(SetExpiry::EX(60))); }", "set_options", PurgeBound::Age, Some(60)),
    ] {
        assert_eq!(forgets(code), [(place.to_owned(), bound, age)], "{code}");
    }
}

#[test]
fn ordinary_caches_and_keys() {
    for code in [
        "fn f() -> D { D { pages: moka::future::Cache::new(500) } }",
        "fn f() -> D { D { pages: LruCache::new(CAP) } } impl D { fn page(&mut self, id: u64) -> P { if let Some(p) = self.pages.get(&id) { return p; } self.pages.put(id, load(id)) } }",
        "fn f() -> D { D { described: LruCache::new(CAP) } }
         impl D { fn notice(&mut self, user: &str) -> bool { if self.described.get(user).is_some() { return false; } self.described.put(user.into(), ()); true } }",
        "async fn f(c: &C) { c.ltrim(\"log:lines\", 0, 999).await; }",
        "async fn f(c: &C) { c.zrembyscore(\"seen\", 0, before).await; }",
        "fn f() { let seen = HashSet::new(); }",
        "fn visit(&mut self, url: &str) { if self.seen.len() > 100 { self.seen.clear(); } if self.seen.contains(url) { return; } self.seen.insert(url.into()); }",
        "async fn flush(&mut self, message: M) { self.processed.push(message); if self.processed.len() >= 100 { commit(&self.processed).await; self.processed.clear(); } }",
        "async fn f(c: &C) { redis::cmd(\"XTRIM\").arg(\"seen:ids\").arg(\"MINID\").arg(before).query_async(c).await; }",
        "impl Dedup { fn page(&mut self, id: u64) -> P { if self.pages.len() > 9 { self.pages.clear(); } load(id) } }",
        "#[cached(size = 100)] fn page(id: u64) -> P { load(id) }",
        "#[cached(time = 100)] fn is_processed(id: u64) -> bool { look(id) }",
    ] {
        assert_eq!(forgets(code), [], "{code}");
    }
}

#[test]
fn looks_without_sql() {
    for code in [
        "fn is_processed(c: &mut C, k: &str) -> R { diesel::select(exists(idempotency_keys.filter(idempotency_key.eq(k)))).get_result(c) }
         fn mark(c: &mut C, k: &str) -> R { diesel::insert_into(idempotency_keys).values(idempotency_key.eq(k)).execute(c) }
         fn once(c: &mut C, k: &str) -> R { if is_processed(c, k)? { return Ok(()); } mark(c, k) }",
        "async fn once(db: &D, id: Uuid) -> R { if inbox::Entity::find_by_id(id).one(db).await?.is_some() { return Ok(()); }
         let row = inbox::ActiveModel { id: Set(id), ..Default::default() }; row.insert(db).await?; Ok(()) }",
        "async fn once(c: &mut C, id: &str) -> R { let key = format!(\"processed:{id}\"); if c.exists(&key).await? { return Ok(()); } c.set_ex(&key, 1, 60).await }",
        "async fn once(c: &mut C, id: &str) -> R { let key = format!(\"processed:{id}\"); let v: Option<String> = c.get(&key).await?; if v.is_some() { return Ok(()); } c.set_ex(&key, 1, 60).await }",
        "async fn once(c: &mut C, id: &str) -> R { let key = format!(\"processed:{id}\"); if redis::cmd(\"EXISTS\").arg(&key).query_async(c).await? { return Ok(()); } redis::cmd(\"SET\").arg(&key).arg(1).query_async(c).await }",
        "async fn once(db: &D, id: &str) -> R { q(\"INSERT INTO inbox (msg_id) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE msg_id = $1)\").bind(id).execute(db).await }",
    ] {
        assert_eq!(handling(code).0.checks.len(), 1, "{code}");
    }
    for code in [
        "fn once(c: &mut C, k: &str) -> R { if inbox::table.find(k).first(c).optional()?.is_some() { return Ok(()); }
         diesel::insert_into(inbox::table).values(id.eq(k)).on_conflict_do_nothing().execute(c) }",
        "fn once(c: &mut C, k: &str) -> R { if tags::table.find(k).first(c).optional()?.is_some() { return Ok(()); }
         diesel::insert_into(tags::table).values(id.eq(k)).execute(c) }",
        "fn close(c: &mut C, k: &str) -> R { if diesel::update(inbox::table.find(k)).set(done.eq(true)).execute(c)? == 0 {
         diesel::insert_into(inbox::table).values(id.eq(k)).execute(c)?; } Ok(()) }",
        "async fn once(c: &mut C, id: &str) -> R { let key = format!(\"processed:{id}\"); let v: Option<String> = redis::cmd(\"SET\").arg(&key).arg(1).arg(\"NX\").query_async(c).await?; done(v) }",
        "async fn once(db: &D, id: &str) -> R { q(\"INSERT INTO inbox (msg_id) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE msg_id = $1) ON CONFLICT DO NOTHING\").execute(db).await }",
        "async fn once(db: &D, id: &str) -> R { q(\"INSERT INTO inbox (msg_id) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM blocked WHERE msg_id = $1)\").execute(db).await }",
        "fn seen(m: &HashMap<String, u8>, seen: &str) -> bool { m.get(seen).is_some() }",
        "async fn once(c: &mut C, id: &str) -> R { let key = format!(\"page:{id}\"); if c.exists(&key).await? { return Ok(()); } c.set(&key, 1).await }",
    ] {
        assert_eq!(handling(code).0.checks.len(), 0, "{code}");
    }
}

#[test]
fn consumers_that_reject() {
    let consumer = |nack: &str| {
        format!(
            "async fn start(c: &Channel) {{ c.queue_declare(\"orders\", opts, TABLE).await; }}
             async fn run(mut c: Consumer) {{ while let Some(d) = c.next().await {{ match handle(&d).await {{
                 Ok(()) => d.ack(BasicAckOptions::default()).await, Err(_) => d.{nack}.await }} }} }}"
        )
    };
    let found = |code: &str| {
        let (found, sources) = handling(code);
        found.consumers.into_iter().map(|q| (sources.text(q.place).to_owned(), q.otherwise)).collect::<Vec<_>>()
    };
    for (nack, place, otherwise) in [
        (
            "nack(BasicNackOptions { requeue: true, ..Default::default() })",
            "nack",
            "is put back, and comes again at once and for ever",
        ),
        ("nack(BasicNackOptions { requeue: false, multiple: false })", "nack", "is rejected, and dropped"),
        ("reject(BasicRejectOptions::default())", "reject", "is rejected, and dropped"),
    ] {
        assert_eq!(found(&consumer(nack)), [(place.to_owned(), otherwise.to_owned())], "{nack}");
    }
    let plain = consumer("nack(BasicNackOptions::default())");
    for code in [
        plain.replace("TABLE", "args(\"x-dead-letter-exchange\", \"dlx\")"),
        plain.replace("queue_declare", "queue_passive"),
        plain.replace("BasicNackOptions::default()", "options"),
        plain.replace("d.ack(BasicAckOptions::default()).await", "()"),
    ] {
        assert_eq!(found(&code), [], "{code}");
    }
}

/// A job: its place, its attempts, whether its count is a default, the first waits in seconds, and whether its dead letters are lost.
type JobShown = (String, Option<u64>, bool, Vec<u64>, bool);

fn jobs(code: &str) -> Vec<JobShown> {
    let (found, sources) = handling(code);
    let shown = |job: super::jobs::Job| {
        let waits = (0..3).filter_map(|n| job.layer.wait.nominal(n)).map(|d| d.as_secs()).collect();
        let count = job.layer.attempts.value().and_then(|a| a.count());
        let is_lost = job.queue.dead_letter == crate::model::DeadLetter::None;
        (sources.text(job.layer.place).to_owned(), count, job.layer.attempts.is_default(), waits, is_lost)
    };
    found.jobs.into_iter().map(shown).collect()
}

const FANG: &str = "use fang::AsyncRunnable; const MANY: i32 = 30;
    impl AsyncRunnable for Settle { async fn run(&self, q: &Q) -> R { settle(q).await } MORE }";

#[test]
fn tasks_of_fang() {
    let task = |more: &str| FANG.replace("MORE", more);
    let job = |place: &str, count, default, waits: &[u64], lost| {
        vec![(place.to_owned(), count, default, waits.to_vec(), lost)]
    };
    // max_retries not written; backoff not written; retention_mode not set.
    assert_eq!(jobs(&task("")), job("run", Some(21), true, &[1, 2, 4], true));
    let more = "fn max_retries(&self) -> i32 { MANY }";
    assert_eq!(jobs(&task(more)), job("max_retries", Some(31), false, &[1, 2, 4], true));
    let more = "fn max_retries(&self) -> i32 { 3 } fn backoff(&self, attempt: u32) -> u32 { 60 }";
    assert_eq!(jobs(&task(more)), job("max_retries", Some(4), false, &[60, 60, 60], true));
    let more = "fn max_retries(&self) -> i32 { self.n } fn backoff(&self, attempt: u32) -> u32 { attempt * 2 }";
    assert_eq!(jobs(&task(more)), job("max_retries", None, false, &[], true));
    let kept = "fn start(q: Q) { Pool::builder().retention_mode(RetentionMode::KeepAll).build(); }";
    assert_eq!(jobs(&(task("") + kept)), job("run", Some(21), true, &[1, 2, 4], false));
    let told = "fn start(q: Q, mode: M) { Pool::builder().retention_mode(mode).build(); }";
    assert_eq!(jobs(&(task("") + told)), job("run", Some(21), true, &[1, 2, 4], false));
    let removed = "fn start(q: Q) { Pool::builder().retention_mode(RetentionMode::RemoveAll).build(); }";
    assert_eq!(jobs(&(task("") + removed)), job("run", Some(21), true, &[1, 2, 4], true));
    // Another crate's trait of that name.
    assert_eq!(jobs(&task("").replace("fang", "pool")), []);
}

#[test]
fn jobs_of_sqlxmq() {
    let function = "pub async fn mail(job: CurrentJob) -> R { deliver(job).await }";
    let with = |attribute: &str| format!("use sqlxmq::job; {attribute} {function}");
    let job = |place: &str, count, default, waits: &[u64], lost| {
        vec![(place.to_owned(), count, default, waits.to_vec(), lost)]
    };
    // retries not written; backoff_secs not written; waits; after the last attempt.
    assert_eq!(jobs(&with("#[job]")), job("mail", Some(5), true, &[1, 2, 4], true));
    let attribute = "#[sqlxmq::job(\"mail\", channel_name = \"m\", retries = 12, backoff_secs = 2.0)]";
    assert_eq!(jobs(&with(attribute)), job("12", Some(13), false, &[2, 4, 8], true));
    assert_eq!(jobs(&with("#[job(proto(slow))]")), job("mail", None, false, &[], true));
    let spawned = "async fn start(p: &P) { mail.builder().set_retries(9).spawn(p).await; }";
    assert_eq!(jobs(&(with("#[job]") + spawned)), job("mail", None, false, &[1, 2, 4], true));
    let watched = "async fn look(p: &P) { q(\"SELECT id FROM mq_msgs WHERE attempt_at IS NULL\").await; }";
    assert_eq!(jobs(&(with("#[job]") + watched)), job("mail", Some(5), true, &[1, 2, 4], false));
    assert_eq!(jobs(&with("#[job]").replace("sqlxmq", "other")), []);
}

#[test]
fn jobs_of_a_package_that_compiles() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rust-sdk/src/jobs.rs");
    let found = jobs(&std::fs::read_to_string(path).expect("the fixture can be read"));
    let job = |place: &str, count, default, waits: &[u64]| (place.to_owned(), count, default, waits.to_vec(), true);
    let expected = [
        job("run", Some(21), true, &[1, 2, 4]),
        job("max_retries", Some(5), false, &[30, 30, 30]),
        job("plain", Some(5), true, &[1, 2, 4]),
        job("12", Some(13), false, &[2, 4, 8]),
        job("read", None, true, &[]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn consumers_of_pgmq() {
    let sql = "async fn run(p: &P) { loop { let m = q(\"SELECT * FROM pgmq.read('orders', 30, 1)\").fetch_one(p).await; work(m).await; \
               q(\"SELECT pgmq.archive('orders', $1)\").execute(p).await; } }";
    let found = jobs(sql);
    // A message that is read and not archived; dead letters.
    assert_eq!(found.iter().map(|j| (j.1, j.4)).collect::<Vec<_>>(), [(None, true)]);
    assert_eq!(handling(sql).0.jobs[0].layer.name, "pgmq queue orders");
    assert!(handling(sql).0.jobs[0].layer.is_unbounded());
    let by_crate = "use pgmq::PGMQueue; async fn run(q: &PGMQueue) { let m = q.read::<Order>(QUEUE, Some(30)).await; }";
    assert_eq!(jobs(by_crate).len(), 1);
    for code in [
        sql.replace("work(m).await;", "if m.read_ct > 5 { park(m).await; }"),
        by_crate.replace("pgmq", "file"),
        by_crate.replace("q.read::<Order>(QUEUE, Some(30))", "file.read(0, 4096)"),
    ] {
        assert_eq!(jobs(&code), [], "{code}");
    }
}

#[test]
fn every_figure_of_the_job_crates_is_tested_here() {
    let text = include_str!("tests.rs");
    for figure in super::jobs::metas().flat_map(|meta| meta.defaults) {
        let (first, rest) = figure.what.split_at(1);
        let is_there = text.contains(figure.what) || text.contains(&(first.to_uppercase() + rest));
        assert!(is_there, "{}", figure.what);
    }
}
