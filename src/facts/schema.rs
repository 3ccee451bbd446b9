//! What SQL says of tables, statement by statement; joining applies the statements in order.

use std::time::Duration;

use crate::source::Span;

/// The statements of one script that make or change tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFact {
    /// The script, as shown.
    pub path: String,
    /// In their order.
    pub changes: Vec<SchemaChange>,
}

/// One change. Names of tables, columns and constraints are in snake case, without schema and quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaChange {
    /// `CREATE TABLE`
    Create(TableFact),
    /// A unique index or constraint that is added later.
    AddUnique {
        /// The table.
        table: String,
        /// The columns that are unique together.
        set: UniqueFact,
    },
    /// A column that is added later.
    AddColumn {
        /// The table.
        table: String,
        /// The column.
        column: ColumnFact,
    },
    /// A constraint or index that goes.
    DropUnique {
        /// The table, where the statement names it.
        table: Option<String>,
        /// The constraint or index; `None`: the primary key.
        name: Option<String>,
    },
    /// A column that goes.
    DropColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// `DROP TABLE`
    DropTable(String),
    /// Another name for a table.
    RenameTable {
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// Another name for a column.
    RenameColumn {
        /// The table.
        table: String,
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// Another name for a constraint or index.
    RenameUnique {
        /// The table, where the statement names it.
        table: Option<String>,
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// A change that may concern what is unique, and could not be read.
    Unclear(String),
}

/// A table as it is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFact {
    /// Its name, as written.
    pub written: String,
    /// Its name.
    pub name: String,
    /// From `CREATE` to the name.
    pub place: Span,
    /// Its columns.
    pub columns: Vec<ColumnFact>,
    /// What is unique.
    pub unique: Vec<UniqueFact>,
    /// Whether some of it could not be read: its definition lies elsewhere, or is filled in later.
    pub is_partly_unknown: bool,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnFact {
    /// Its name, as written.
    pub written: String,
    /// Its name.
    pub name: String,
    /// Where it is defined: its name.
    pub span: Span,
    /// The first word of its type, lower case.
    pub kind: String,
    /// Whether the database makes a new value for each record.
    pub is_made_anew: bool,
    /// Whether the time of the insert is filled in.
    pub is_now: bool,
    /// How long after the insert the time lies that is filled in, and where that is written.
    pub lives: Option<(Duration, Span)>,
    /// Whether it refers to another table.
    pub refers: bool,
}

/// A purge of records whose time, in a column of theirs, has come; joining takes from the table how long they live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiryFact {
    /// The place of the purge.
    pub purge: Span,
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
}

/// Columns that are unique together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueFact {
    /// The name of the constraint or index.
    pub name: Option<String>,
    /// Whether it is the primary key.
    pub is_primary: bool,
    /// The columns.
    pub columns: Vec<String>,
    /// Whether it holds for some records only.
    pub is_partial: bool,
}
