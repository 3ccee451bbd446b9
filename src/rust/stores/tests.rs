use super::{Handling, read, texts};
use crate::facts::Facts;
use crate::model::PurgeBound;
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
    (read(&facts.modules, &[], &sources), sources)
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
