//! A script to the statements that may delete, each with what surrounds it: routine, schedule, guard.
//!
//! Split before parsing, so that a statement that no parser reads loses nothing but itself.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::lex::{Kind, Lexer, Token};
use super::names;

/// What surrounds a statement.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    /// Whether it runs as a purge: on a schedule, or in a routine or file that is named so.
    pub(super) runs: bool,
    /// `SET ROWCOUNT n` in force.
    pub(super) row_count: Option<Range<usize>>,
    /// Tables that are counted before a test, with the place of their first count. Shared: every statement of a
    /// routine has a context.
    pub(super) guards: Rc<BTreeMap<String, Range<usize>>>,
    /// Whether there is a test.
    pub(super) is_tested: bool,
}

/// A statement that may delete.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Its text, from the first keyword on.
    pub(super) sql: String,
    /// Where it starts in the file.
    pub(super) start: usize,
    /// Its tokens, counted from its start.
    pub(super) tokens: Vec<Token>,
    /// What surrounds it.
    pub(super) context: Context,
}

impl Candidate {
    /// The text of a token, without its quotes.
    pub(super) fn word(&self, token: &Token) -> &str {
        self.sql.get(token.inner.clone()).unwrap_or("")
    }
}

/// Statements within texts within routines: deeper ones are not looked into.
const MAX_NESTING: usize = 4;

/// A routine that counts more tables than this does not count them to purge them.
const MAX_GUARDS: usize = 100;

/// A statement longer than this holds data.
const MAX_TOKENS: usize = 50_000;

/// The statements of `text` that may delete; `at` is where the text starts in its file.
pub(super) fn candidates(text: &str, at: usize, context: &Context) -> Vec<Candidate> {
    let mut splitter = Splitter { text, at, out: Vec::new() };
    splitter.scan(0..text.len(), context, 0);
    splitter.out
}

/// Calls `with` on the tokens of each statement.
pub(super) fn statements(text: &str, range: Range<usize>, mut with: impl FnMut(&[Token], Kind)) {
    let mut tokens = Vec::new();
    for token in Lexer::new(text, range) {
        match token.kind {
            Kind::Semicolon | Kind::Break => {
                with(&tokens, token.kind);
                tokens.clear();
            }
            _ if tokens.len() < MAX_TOKENS => tokens.push(token),
            _ => {}
        }
    }
    with(&tokens, Kind::Break);
}

struct Splitter<'t> {
    text: &'t str,
    at: usize,
    out: Vec<Candidate>,
}

/// The routine that statements stand in.
struct Routine {
    context: Context,
    /// How many BEGIN and CASE are open.
    open: usize,
}

impl Splitter<'_> {
    fn word(&self, token: &Token) -> &str {
        self.text.get(token.inner.clone()).unwrap_or("")
    }

    fn is(&self, token: Option<&Token>, words: &[&str]) -> bool {
        token.is_some_and(|t| t.kind == Kind::Word && words.iter().any(|w| self.word(t).eq_ignore_ascii_case(w)))
    }

    fn scan(&mut self, range: Range<usize>, outer: &Context, depth: usize) {
        let text = self.text;
        let mut routine: Option<Routine> = None;
        let mut script = outer.clone();
        statements(text, range, |tokens, ended_by| {
            if let Some(context) = self.routine(tokens, outer) {
                routine = Some(Routine { context, open: 0 });
            }
            let context = routine.as_mut().map_or(&mut script, |r| &mut r.context);
            // Outside of a routine a count guards only its own statement.
            let guards = Rc::clone(&context.guards);
            let is_tested = context.is_tested;
            self.statement(tokens, context, depth);
            match &mut routine {
                Some(open) => {
                    if self.closes(tokens, open) || ended_by == Kind::Break {
                        routine = None;
                    }
                }
                None if depth > 0 => {}
                None => {
                    script.guards = guards;
                    script.is_tested = is_tested;
                }
            }
        });
    }

    /// The context of a routine, if the statement opens one.
    fn routine(&self, tokens: &[Token], outer: &Context) -> Option<Context> {
        if !self.is(tokens.first(), &["CREATE", "ALTER"]) {
            return None;
        }
        let kinds = ["FUNCTION", "PROCEDURE", "PROC", "EVENT", "TRIGGER"];
        let at = tokens.iter().take(12).position(|t| self.is(Some(t), &kinds))?;
        let is_event = self.is(tokens.get(at), &["EVENT"]);
        let mut name = "";
        let mut rest =
            tokens.get(at + 1..).unwrap_or_default().iter().skip_while(|t| self.is(Some(t), &["IF", "NOT", "EXISTS"]));
        // The last part of a dotted name.
        while let Some(token) = rest.next().filter(|t| matches!(t.kind, Kind::Word | Kind::Name)) {
            name = self.word(token);
            if rest.next().is_none_or(|t| t.kind != Kind::Mark(b'.')) {
                break;
            }
        }
        Some(Context { runs: outer.runs || is_event || is_purging(name), ..outer.clone() })
    }

    /// Counts the blocks that a statement opens and closes; tells whether the routine ends with it.
    fn closes(&self, tokens: &[Token], routine: &mut Routine) -> bool {
        let mut i = 0;
        let mut has_closed = false;
        while let Some(token) = tokens.get(i) {
            if self.is(Some(token), &["BEGIN", "CASE"]) {
                routine.open += 1;
            } else if self.is(Some(token), &["END"]) {
                let closes_other = self.is(tokens.get(i + 1), &["IF", "LOOP", "WHILE", "REPEAT", "FOR"]);
                if !closes_other {
                    has_closed |= routine.open == 1;
                    routine.open = routine.open.saturating_sub(1);
                }
                // The word after END closes the same thing.
                i += usize::from(closes_other || self.is(tokens.get(i + 1), &["CASE"]));
            }
            i += 1;
        }
        has_closed && routine.open == 0
    }

    fn statement(&mut self, tokens: &[Token], context: &mut Context, depth: usize) {
        self.row_count(tokens, context);
        self.count_guards(tokens, context);
        let is_scheduled = self.has_schedule(tokens);
        let inner = Context { runs: context.runs || is_scheduled, ..context.clone() };
        let runs_texts = is_scheduled || self.is(tokens.first(), &["EXECUTE", "EXEC", "PREPARE"]);
        if depth < MAX_NESTING {
            for token in tokens {
                match token.kind {
                    Kind::Dollar => self.scan(token.inner.clone(), &inner, depth + 1),
                    Kind::Text if runs_texts || self.follows_execute(tokens, token) => self.text(token, &inner),
                    _ => {}
                }
            }
        }
        let mut i = 0;
        while i < tokens.len() {
            if self.starts(tokens, i) {
                let end = self.end(tokens, i);
                self.keep(tokens.get(i..end).unwrap_or_default(), context);
                i = end.max(i + 1);
            } else {
                i += 1;
            }
        }
    }

    fn keep(&mut self, tokens: &[Token], context: &Context) {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
        let start = first.range.start;
        let shift = |r: &Range<usize>| r.start - start..r.end - start;
        let tokens =
            tokens.iter().map(|t| Token { kind: t.kind, range: shift(&t.range), inner: shift(&t.inner) }).collect();
        let sql = self.text.get(start..last.range.end).unwrap_or("").to_string();
        let mut context = context.clone();
        if !context.is_tested {
            context.guards = Rc::default();
        }
        self.out.push(Candidate { sql, start: self.at + start, tokens, context });
    }

    /// Looks into a text that is run as SQL. A doubled quote keeps its length, so that places stay exact.
    fn text(&mut self, token: &Token, context: &Context) {
        let inner = self.word(token).replace("''", "' ");
        self.out.extend(candidates(&inner, self.at + token.inner.start, context));
    }

    fn follows_execute(&self, tokens: &[Token], token: &Token) -> bool {
        let at = tokens.partition_point(|t| t.range.start < token.range.start);
        let before = tokens.get(at.saturating_sub(3)..at).unwrap_or_default();
        before.iter().any(|t| self.is(Some(t), &["EXECUTE", "EXEC", "sp_executesql", "IMMEDIATE"]))
    }

    fn has_schedule(&self, tokens: &[Token]) -> bool {
        let is_cron = tokens.windows(3).any(|w| {
            self.is(w.first(), &["cron"]) && self.is(w.get(2), &["schedule", "schedule_in_database", "alter_job"])
        });
        is_cron || tokens.iter().any(|t| self.is(Some(t), &["sp_add_jobstep", "sp_update_jobstep", "add_job"]))
    }

    fn row_count(&self, tokens: &[Token], context: &mut Context) {
        for w in tokens.windows(3) {
            let [set, what, number] = w else { continue };
            if self.is(Some(set), &["SET"]) && self.is(Some(what), &["ROWCOUNT"]) {
                let place = self.at + set.range.start..self.at + number.range.end;
                context.row_count = (self.word(number) != "0").then_some(place);
            }
        }
    }

    /// Notes `count(*) .. FROM t`, and whether anything is tested.
    fn count_guards(&self, tokens: &[Token], context: &mut Context) {
        context.is_tested |= tokens.iter().any(|t| self.is(Some(t), &["IF", "WHILE", "WHEN", "ELSIF", "ELSEIF"]));
        for (i, token) in tokens.iter().enumerate() {
            let is_count = self.is(Some(token), &["COUNT", "COUNT_BIG"])
                && tokens.get(i + 1).is_some_and(|t| t.kind == Kind::Mark(b'('));
            if !is_count {
                continue;
            }
            let rest = tokens.get(i..).unwrap_or_default();
            let Some(from) = rest.iter().take(12).position(|t| self.is(Some(t), &["FROM"])) else { continue };
            let Some((name, last)) = self.dotted(rest, from + 1) else { continue };
            let table = names::snake(name);
            if context.guards.len() < MAX_GUARDS && !context.guards.contains_key(&table) {
                let place = self.at + token.range.start..self.at + last.range.end;
                Rc::make_mut(&mut context.guards).insert(table, place);
            }
        }
    }

    /// The last part of the name that starts at `at`.
    fn dotted<'t>(&self, tokens: &'t [Token], mut at: usize) -> Option<(&str, &'t Token)> {
        loop {
            let token = tokens.get(at).filter(|t| matches!(t.kind, Kind::Word | Kind::Name))?;
            if tokens.get(at + 1).is_none_or(|t| t.kind != Kind::Mark(b'.')) {
                return Some((self.word(token), token));
            }
            at += 2;
        }
    }

    /// Whether a statement that may delete starts with this token.
    fn starts(&self, tokens: &[Token], at: usize) -> bool {
        let next = tokens.get(at + 1);
        let is_name = next.is_some_and(|t| matches!(t.kind, Kind::Word | Kind::Name));
        let before = at.checked_sub(1).and_then(|i| tokens.get(i));
        let is_mentioned = self.is(before, &["ON", "OR", "AFTER", "BEFORE", "FOR", "GRANT", "REVOKE", "OF", "INSTEAD"])
            || before.is_some_and(|t| t.kind == Kind::Mark(b','));
        if self.is(tokens.get(at), &["DELETE", "TRUNCATE"]) {
            return is_name && !is_mentioned && !self.is(next, &["ON", "OR", "THEN", "END", "WHEN", "AS"]);
        }
        self.is(tokens.get(at), &["WITH"]) && self.is_cte(tokens, at + 1)
    }

    /// `[RECURSIVE] name [(columns)] AS [NOT] [MATERIALIZED] (`
    fn is_cte(&self, tokens: &[Token], mut at: usize) -> bool {
        at += usize::from(self.is(tokens.get(at), &["RECURSIVE"]));
        if !tokens.get(at).is_some_and(|t| matches!(t.kind, Kind::Word | Kind::Name)) {
            return false;
        }
        at += 1;
        if tokens.get(at).is_some_and(|t| t.kind == Kind::Mark(b'(')) {
            let rest = tokens.get(at..).unwrap_or_default();
            at += rest.iter().position(|t| t.kind == Kind::Mark(b')')).map_or(rest.len(), |n| n + 1);
        }
        self.is(tokens.get(at), &["AS"])
    }

    /// The token after the statement: dialects without semicolons end it with the next keyword.
    fn end(&self, tokens: &[Token], start: usize) -> usize {
        let (mut depth, mut cases) = (0usize, 0usize);
        let mut has_verb = !self.is(tokens.get(start), &["WITH"]);
        for (i, token) in tokens.iter().enumerate().skip(start + 1) {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') if depth == 0 => return i,
                Kind::Mark(b')') => depth -= 1,
                Kind::Word if depth == 0 => {
                    let token = Some(token);
                    if self.is(token, &["CASE"]) {
                        cases += 1;
                    } else if self.is(token, &["END"]) && cases > 0 {
                        cases -= 1;
                    } else if self.is(token, VERBS) {
                        if has_verb {
                            return i;
                        }
                        has_verb = true;
                    } else if self.is(token, ENDS) {
                        return i;
                    }
                }
                _ => {}
            }
        }
        tokens.len()
    }
}

/// What a statement with common table expressions is about.
const VERBS: &[&str] = &["DELETE", "SELECT", "INSERT", "UPDATE", "MERGE"];

/// What can follow a statement, but not stand in it.
const ENDS: &[&str] = &[
    "END",
    "COMMIT",
    "ROLLBACK",
    "IF",
    "WHILE",
    "DECLARE",
    "PRINT",
    "EXEC",
    "EXECUTE",
    "BEGIN",
    "BREAK",
    "RETURN",
    "RETURNING",
    "GET",
    "LOOP",
    "EXIT",
    "ELSE",
    "ELSIF",
    "ELSEIF",
    "CALL",
    "RAISE",
    "RAISERROR",
    "PERFORM",
    "TRUNCATE",
    "DROP",
    "CREATE",
    "ALTER",
    "OPTION",
    "WAITFOR",
    "DO",
    "SET",
    "LEAVE",
    "ITERATE",
    "UNTIL",
    "SIGNAL",
    "USE",
    "CLOSE",
    "OPEN",
];

/// Whether a name says that it purges.
pub(super) fn is_purging(name: &str) -> bool {
    let stems = ["clean", "purg", "prun", "expir", "trim", "rotat", "evict", "sweep", "housekeep"];
    let name = names::snake(name).replace(['-', '.', ' '], "_");
    name.split('_').any(|word| word == "gc" || stems.iter().any(|stem| word.starts_with(stem)))
}
