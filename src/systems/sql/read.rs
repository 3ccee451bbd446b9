//! A statement to its tree, by the dialect that reads it.

use std::ops::Range;

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    Dialect, GenericDialect, MsSqlDialect, MySqlDialect, OracleDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;

use super::lex::{Kind, Token};
use super::split::Candidate;

/// A statement that was read.
pub(super) struct Reading {
    pub(super) tree: Statement,
    /// The `TOP (n)` or `FETCH FIRST n ROWS ONLY` of the DELETE itself, which no dialect of the parser knows.
    pub(super) bound: Option<Range<usize>>,
}

/// Operators beyond this number make a tree too deep to drop; nobody writes such a purge.
const MAX_OPERATORS: usize = 1_000;
/// The parser is recursive; it protects itself, and this keeps the tree shallow for us.
const MAX_PARENTHESES: usize = 40;

/// Reads a statement, or says why not.
pub(super) fn read(candidate: &Candidate) -> Result<Reading, String> {
    measure(&candidate.tokens)?;
    let (sql, bound) = readable(candidate);
    let mut problem = String::new();
    for dialect in dialects(&sql) {
        match Parser::parse_sql(dialect, &sql) {
            Ok(mut statements) if statements.len() == 1 => {
                if let Some(tree) = statements.pop() {
                    return Ok(Reading { tree, bound });
                }
            }
            Ok(_) => problem = "more than one statement".into(),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(problem.trim_start_matches("sql parser error: ").to_string())
}

fn measure(tokens: &[Token]) -> Result<(), String> {
    let (mut depth, mut operators) = (0usize, 0usize);
    for token in tokens {
        match token.kind {
            Kind::Mark(b'(') => depth += 1,
            Kind::Mark(b')') => depth = depth.saturating_sub(1),
            Kind::Mark(b',' | b'.') => {}
            Kind::Mark(_) => operators += 1,
            Kind::Word if token.range.len() <= 3 => operators += 1,
            _ => {}
        }
        if depth > MAX_PARENTHESES || operators > MAX_OPERATORS {
            return Err("it is too large to be read".into());
        }
    }
    Ok(())
}

/// The generic dialect first, then those that the marks in the text point to, then the others.
fn dialects(sql: &str) -> Vec<&'static dyn Dialect> {
    let (postgres, mysql, sqlite): (&dyn Dialect, &dyn Dialect, &dyn Dialect) =
        (&PostgreSqlDialect {}, &MySqlDialect {}, &SQLiteDialect {});
    let (mssql, oracle): (&dyn Dialect, &dyn Dialect) = (&MsSqlDialect {}, &OracleDialect {});
    let likely = if sql.contains('[') || sql.contains('@') {
        [mssql, mysql, postgres, sqlite, oracle]
    } else if sql.contains('`') || sql.contains('?') {
        [mysql, sqlite, mssql, postgres, oracle]
    } else {
        [postgres, mysql, sqlite, mssql, oracle]
    };
    std::iter::once(&GenericDialect {} as &dyn Dialect).chain(likely).collect()
}

/// The text with what no dialect knows blanked out, every byte in its place; and the bound of the DELETE among it.
fn readable(candidate: &Candidate) -> (String, Option<Range<usize>>) {
    let tokens = &candidate.tokens;
    let is = |i: usize, word: &str| {
        tokens.get(i).is_some_and(|t| t.kind == Kind::Word && candidate.word(t).eq_ignore_ascii_case(word))
    };
    let mut blanks: Vec<Range<usize>> = Vec::new();
    let mut bound = None;
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        let place = |last: usize| tokens.get(last).or(tokens.last()).map(|t| token.range.start..t.range.end);
        match token.kind {
            Kind::Mark(b'(') => depth += 1,
            Kind::Mark(b')') => depth = depth.saturating_sub(1),
            // psql writes a variable in quotes as :'name'.
            Kind::Mark(b':')
                if tokens.get(i + 1).is_some_and(|t| t.kind == Kind::Text && t.range.start == token.range.end) =>
            {
                blanks.push(token.range.clone());
            }
            Kind::Word if i > 0 && is(i - 1, "DELETE") && is(i, "TOP") => {
                let last = closing(tokens, i + 1);
                bound = place(if is(last + 1, "PERCENT") { last + 1 } else { last });
                blanks.extend(bound.clone());
            }
            Kind::Word if depth == 0 && is(i, "FETCH") && (is(i + 1, "FIRST") || is(i + 1, "NEXT")) => {
                bound = place(tokens.len());
                blanks.extend(bound.clone());
            }
            Kind::Word if i > 0 && i < 4 && (is(i, "LOW_PRIORITY") || is(i, "QUICK") || is(i, "IGNORE")) => {
                blanks.push(token.range.clone());
            }
            _ => {}
        }
    }
    (blanked(&candidate.sql, &blanks), bound)
}

/// The token that closes the parenthesis at `open`, or `open` itself.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Mark(b'(') => depth += 1,
            Kind::Mark(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return i;
        }
    }
    tokens.len().saturating_sub(1)
}

fn blanked(sql: &str, blanks: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut at = 0;
    for blank in blanks.iter().filter(|b| !b.is_empty()) {
        if blank.start < at {
            continue;
        }
        out += sql.get(at..blank.start).unwrap_or("");
        // Line ends stay, because the parser counts lines and columns.
        let covered = sql.get(blank.clone()).unwrap_or("");
        out.extend(covered.chars().flat_map(|c| {
            let kept = if c == '\n' { '\n' } else { ' ' };
            std::iter::repeat_n(kept, 1)
        }));
        at = blank.end;
    }
    out += sql.get(at..).unwrap_or("");
    out
}
