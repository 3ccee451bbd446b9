//! Statements that purge a store of handled messages or dead letters, and how they choose what goes.

use std::ops::Range;

use sqlparser::ast::{Delete, FromTable, Query, SetExpr, TableFactor, TableWithJoins};

use super::conditions::{self, Says, Verdict};
use super::cursor::Cursor;
use super::dialect::Dialect;
use super::lex::{Kind, Token};
use super::names;
use super::places::Places;
use super::read::{self, Reading};
use super::spans;
use super::split::{self, Candidate, Context};
use super::tables::Tables;
use super::victims::{Parts, Scope, factors};
use crate::facts::{ExpiryFact, Facts};
use crate::model::{Keeps, Purge, PurgeBound};
use crate::source::{SourceFile, Span, Unread};

/// More unread statements than this in one script say nothing new.
const MAX_UNREAD: usize = 100;

/// Adds the purges of an SQL script. A statement that cannot be read is unread if it names a store.
pub fn extract(file: &SourceFile, facts: &mut Facts) {
    let stem = file.path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or("");
    extract_as(file, stem, facts);
}

/// As [`extract`], for a text that is called `name`.
pub(super) fn extract_as(file: &SourceFile, name: &str, facts: &mut Facts) {
    let text = &file.text;
    if !mentions(text) {
        return;
    }
    let mut tables = Tables::default();
    split::statements(text, 0..text.len(), |tokens, _| tables.add(text, tokens));
    let context = Context { runs: split::is_purging(name), ..Context::default() };
    let dialect = Dialect::of(text);
    for candidate in split::candidates(text, 0, &context) {
        Extractor { file, tables: &tables, candidate: &candidate, dialect, facts }.run();
    }
}

/// Whether the text has a word that deletes: a script without one is not split at all.
fn mentions(text: &str) -> bool {
    let has = |word: &[u8]| text.as_bytes().windows(word.len()).any(|w| w.eq_ignore_ascii_case(word));
    has(b"delete") || has(b"truncate")
}

/// A file whose statements do not run in production, as far as its path tells.
pub(super) fn is_trial(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let words = |s: &str| s.split(|c: char| !c.is_alphanumeric()).map(str::to_string).collect::<Vec<_>>();
    path.split('/')
        .flat_map(words)
        .any(|w| matches!(w.as_str(), "test" | "tests" | "seed" | "seeds" | "testdata" | "spec" | "demo"))
        || words(name).iter().any(|w| w == "down" || w == "undo" || w == "rollback")
        || is_undo(name)
}

/// Flyway's way back: `U1.1__name.sql` (lower case here).
fn is_undo(name: &str) -> bool {
    let version = name.strip_prefix('u').and_then(|rest| rest.split_once("__")).map(|(version, _)| version);
    version.is_some_and(|v| !v.is_empty() && v.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_')))
}

struct Extractor<'e> {
    file: &'e SourceFile,
    tables: &'e Tables,
    candidate: &'e Candidate,
    dialect: Dialect,
    facts: &'e mut Facts,
}

impl Extractor<'_> {
    fn run(&mut self) {
        let used: Vec<String> = self.names().map(|t| names::snake(self.candidate.word(t))).collect();
        if !used.iter().any(|name| self.tables.store(name, &used).is_some()) {
            return;
        }
        let is_truncate =
            self.candidate.tokens.first().is_some_and(|t| self.candidate.word(t).eq_ignore_ascii_case("TRUNCATE"));
        if is_truncate {
            return self.truncate(&used);
        }
        match read::read(self.candidate) {
            Ok(reading) => {
                let parts = Parts::of(&reading.tree);
                for delete in &parts.deletes {
                    self.delete(delete, &parts, &reading, &used);
                }
            }
            Err(problem) => self.unreadable(&problem, &used),
        }
    }

    fn names(&self) -> impl Iterator<Item = &Token> {
        self.candidate.tokens.iter().filter(|t| matches!(t.kind, Kind::Word | Kind::Name))
    }

    fn span(&self, range: &Range<usize>) -> Span {
        self.file.span(self.candidate.start + range.start..self.candidate.start + range.end)
    }

    fn truncate(&mut self, used: &[String]) {
        let bound = if self.runs() { PurgeBound::Everything } else { PurgeBound::Other };
        let mut name: Option<&Token> = None;
        let mut found = Vec::new();
        for token in
            self.candidate.tokens.iter().skip(1).chain([&Token { kind: Kind::Mark(b','), range: 0..0, inner: 0..0 }])
        {
            match token.kind {
                Kind::Word | Kind::Name => {
                    let is_option =
                        ["TABLE", "ONLY", "IF", "EXISTS", "RESTART", "CONTINUE", "IDENTITY", "CASCADE", "RESTRICT"]
                            .iter()
                            .any(|w| self.candidate.word(token).eq_ignore_ascii_case(w));
                    name = if is_option { name } else { Some(token) };
                }
                Kind::Mark(b',') => found.extend(name.take()),
                _ => {}
            }
        }
        for name in found {
            let table = self.candidate.word(name).to_string();
            if let Some(keeps) = self.tables.store(&table, used) {
                let place = self.span(&(0..name.range.end));
                let advice = Some(self.advice(&table));
                self.facts.purges.push(Purge {
                    table,
                    keeps,
                    place,
                    bound,
                    bound_span: None,
                    age: None,
                    advice,
                    minor: false,
                });
            }
        }
    }

    /// Whether a purge of everything is meant to happen again and again.
    fn runs(&self) -> bool {
        self.candidate.context.runs && !is_trial(&self.file.path)
    }

    /// The purge as it would be by age, in the dialect of the file.
    fn advice(&self, table: &str) -> String {
        let window = match self.dialect {
            Dialect::Postgres => "now() - interval '30 days'",
            Dialect::MySql => "NOW() - INTERVAL 30 DAY",
            Dialect::Sqlite => "datetime('now', '-30 days')",
            Dialect::SqlServer => "DATEADD(day, -30, SYSUTCDATETIME())",
        };
        // In quotes of its dialect it would end the quotation.
        let plain = |name: &str| name.replace('`', "");
        let time = self.tables.time(table).unwrap_or("created_at");
        format!("`DELETE FROM {} WHERE {} < {window}`", plain(table), plain(time))
    }

    fn delete(&mut self, delete: &Delete, parts: &Parts<'_>, reading: &Reading, used: &[String]) {
        let places = Places::new(self.candidate);
        let Some(place) = places.head(delete.delete_token.0.span.start) else { return };
        for target in targets(delete) {
            let Some(table) = self.base(&target, delete, parts) else { continue };
            let Some(keeps) = self.tables.store(&table, used) else { continue };
            let (bound, bound_span) = self.bound(&table, keeps, delete, parts, reading, &places);
            let whole = Cursor::new(&self.candidate.sql, &self.candidate.tokens);
            let age = if bound == PurgeBound::Age { spans::age(whole) } else { None };
            let age = age.map(|(age, place)| (age, self.span(&place)));
            let place = self.span(&place);
            if let Some(column) =
                used.iter().find(|n| is_expiry(n)).filter(|_| bound == PurgeBound::Age && age.is_none())
            {
                let (table, column) = (names::snake(&table), column.clone());
                self.facts.expiries.push(ExpiryFact { purge: place, table, column });
            }
            let advice = Some(self.advice(&table));
            self.facts.purges.push(Purge { table, keeps, place, bound, bound_span, age, advice, minor: false });
        }
    }

    /// The table behind a name: an alias, or a common table that picks from it.
    fn base(&self, name: &str, delete: &Delete, parts: &Parts<'_>) -> Option<String> {
        let mut name = name.to_string();
        for factor in all_factors(delete) {
            if let TableFactor::Table { name: table, alias: Some(alias), .. } = factor
                && names::snake(&alias.name.value) == names::snake(&name)
            {
                name = table.to_string();
            }
        }
        for _ in 0..8 {
            match parts.ctes.get(&names::snake(&name)) {
                Some(query) => name = first_table(query)?,
                None => return Some(name),
            }
        }
        None
    }

    fn bound(
        &self,
        table: &str,
        keeps: Keeps,
        delete: &Delete,
        parts: &Parts<'_>,
        reading: &Reading,
        places: &Places<'_>,
    ) -> (PurgeBound, Option<Span>) {
        let scope = Scope::new(self.tables, table.to_string(), &parts.ctes, &parts.ranks);
        let asked = scope.sources(from(delete));
        let using = scope.sources(delete.using.as_deref().unwrap_or_default());
        let mut says: Vec<Says> = asked.says.into_iter().chain(using.says).collect();
        says.extend(delete.selection.iter().flat_map(|e| conditions::all(e, &scope)));
        let context = &self.candidate.context;
        let is_limited = delete.limit.is_some()
            || reading.bound.is_some()
            || context.row_count.is_some()
            || asked.is_limited
            || using.is_limited;
        let is_ordered = !delete.order_by.is_empty() || asked.is_ordered || using.is_ordered;
        let verdict = conditions::verdict(&says, is_limited, is_ordered);
        let guard = context.guards.get(&names::snake(table));
        let is_silent = says.iter().any(|s| matches!(s, Says::Key | Says::Duplicates | Says::Unclear));
        match verdict {
            Verdict::Age => (PurgeBound::Age, None),
            Verdict::Count => {
                let count = reading.bound.clone().or_else(|| places.count()).map(|r| self.span(&r));
                (PurgeBound::Count, count.or(context.row_count.as_ref().map(|r| self.file.span(r.clone()))))
            }
            _ if !is_silent && guard.is_some() => (PurgeBound::Count, guard.map(|r| self.file.span(r.clone()))),
            // A dead letter that was dealt with can go.
            Verdict::Status(_) if keeps == Keeps::DeadLetters => (PurgeBound::Other, None),
            Verdict::Status(span) => (PurgeBound::Status, places.range(span).map(|r| self.span(&r))),
            Verdict::Everything if self.runs() || says.contains(&Says::New) => (PurgeBound::Everything, None),
            Verdict::Everything | Verdict::Other => (PurgeBound::Other, None),
        }
    }

    /// A statement that no dialect reads: of a cursor it deletes the record at hand; else it is listed.
    fn unreadable(&mut self, problem: &str, used: &[String]) {
        let places = Places::new(self.candidate);
        let is = |t: &Token, word: &str| t.kind == Kind::Word && self.candidate.word(t).eq_ignore_ascii_case(word);
        let tokens = &self.candidate.tokens;
        let Some(at) = tokens.iter().position(|t| is(t, "DELETE")) else { return };
        let head = tokens.get(at).map_or(0, |t| t.range.start)..places.name_end(at);
        let table =
            self.candidate.sql.get(head.clone()).and_then(|s| s.split_whitespace().last()).unwrap_or("").to_string();
        let is_common = is(&tokens[0], "WITH"); // There is a DELETE among the tokens, so there is a first one.
        let keeps = self.tables.store(&table, used);
        if keeps.is_none() && !is_common {
            return;
        }
        let span = self.span(&head);
        let is_cursor = tokens.windows(2).any(|w| matches!(w, [a, b] if is(a, "CURRENT") && is(b, "OF")));
        if let (true, Some(keeps)) = (is_cursor, keeps) {
            self.facts.purges.push(Purge {
                table,
                keeps,
                place: span,
                bound: PurgeBound::Other,
                bound_span: None,
                age: None,
                advice: None,
                minor: false,
            });
            return;
        }
        let reason = format!("the purge of {table} cannot be read: {problem}");
        if self.facts.unread.len() < MAX_UNREAD {
            self.facts.unread.push(Unread { path: self.file.path.clone(), span: Some(span), reason });
        }
    }
}

/// Whether a column is called after the end of its record's life.
fn is_expiry(name: &str) -> bool {
    name.starts_with("expir") || name.ends_with("_until")
}

fn from(delete: &Delete) -> &[TableWithJoins] {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    from
}

fn all_factors(delete: &Delete) -> impl Iterator<Item = &TableFactor> {
    from(delete).iter().chain(delete.using.as_deref().unwrap_or_default()).flat_map(factors)
}

/// The names of what is deleted from.
fn targets(delete: &Delete) -> Vec<String> {
    if !delete.tables.is_empty() {
        return delete.tables.iter().map(|name| name.to_string().trim_end_matches(".*").to_string()).collect();
    }
    let tables = from(delete).iter().filter_map(|f| match &f.relation {
        TableFactor::Table { name, .. } => Some(name.to_string()),
        _ => None,
    });
    tables.collect()
}

/// The first table that a query picks from.
fn first_table(query: &Query) -> Option<String> {
    let SetExpr::Select(select) = &*query.body else { return None };
    match &select.from.first()?.relation {
        TableFactor::Table { name, .. } => Some(name.to_string()),
        TableFactor::Derived { subquery, .. } => first_table(subquery),
        _ => None,
    }
}
