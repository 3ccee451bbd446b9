//! Which database a text is for, by what only that one understands; for examples in messages.

/// A dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// PostgreSQL, and whatever cannot be told.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
    /// SQLite.
    Sqlite,
    /// SQL Server.
    SqlServer,
}

/// A text of which more need not be looked at.
const MAX_BYTES: usize = 64 << 10;

impl Dialect {
    /// The dialect of a text.
    pub(super) fn of(text: &str) -> Self {
        let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_BYTES).unwrap_or(text.len());
        let text = text.get(..end).unwrap_or("").to_ascii_lowercase();
        let has = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
        if has(&["[dbo]", "dbo.", "getdate()", "sysutcdatetime", "dateadd(", "nvarchar", "top (", "\ngo\n"]) {
            Self::SqlServer
        } else if has(&["autoincrement", "datetime('now'", "julianday(", "strftime(", "without rowid", "unixepoch("]) {
            Self::Sqlite
        } else if has(&[
            "`",
            "auto_increment",
            "engine=",
            "date_sub(",
            " interval 1 ",
            " interval 30 day",
            "now() - interval ",
        ]) && !has(&["interval '", "timestamptz", "jsonb", "::", "$1"])
        {
            Self::MySql
        } else {
            Self::Postgres
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect::{MySql, Postgres, SqlServer, Sqlite};
    use super::*;

    #[test]
    fn dialects_by_their_marks() {
        for (text, dialect) in [
            ("CREATE TABLE inbox (id bigserial PRIMARY KEY, at timestamptz)", Postgres),
            ("DELETE FROM inbox WHERE at < now() - interval '30 days'", Postgres),
            ("CREATE TABLE `inbox` (`id` bigint) ENGINE=InnoDB", MySql),
            ("DELETE FROM inbox WHERE at < NOW() - INTERVAL 30 DAY", MySql),
            ("DELETE FROM inbox WHERE at < datetime('now', '-30 days')", Sqlite),
            ("DELETE TOP (500) FROM [dbo].[Inbox]", SqlServer),
            ("DELETE FROM inbox", Postgres),
        ] {
            assert_eq!(Dialect::of(text), dialect, "{text}");
        }
    }
}
