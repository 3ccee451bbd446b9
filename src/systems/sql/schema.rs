//! Statements that make and change tables, read from their tokens: no dialect is needed for that, and none fails.

use super::cursor::{Cursor, is_name, parts};
use super::lex::{Kind, Token};
use super::{names, spans, split};
use crate::facts::{ColumnFact, Facts, SchemaChange, SchemaFact, TableFact, UniqueFact};
use crate::source::SourceFile;

/// Adds what a script makes and changes. The part of a migration that takes it back is left out.
pub fn extract(file: &SourceFile, facts: &mut Facts) {
    let text = &*file.text;
    let end = down(text).unwrap_or(text.len());
    let mut reader = Reader { file, text, changes: Vec::new() };
    reader.script(0..end, 0);
    if !reader.changes.is_empty() {
        facts.schemas.push(SchemaFact { path: file.path.to_string(), changes: reader.changes });
    }
}

/// Where the part of a migration begins that takes it back (goose, dbmate, sql-migrate).
fn down(text: &str) -> Option<usize> {
    ["-- +goose Down", "-- migrate:down", "-- +migrate Down", "-- +micrate Down", "--//@UNDO", "-- //@UNDO"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min()
}

/// Routines within routines: deeper ones are not looked into.
const MAX_NESTING: usize = 3;

struct Reader<'t> {
    file: &'t SourceFile,
    text: &'t str,
    changes: Vec<SchemaChange>,
}

impl Reader<'_> {
    fn script(&mut self, range: std::ops::Range<usize>, depth: usize) {
        let text = self.text;
        split::statements(text, range, |tokens, _| {
            self.statements(tokens);
            let runs_text = tokens.iter().any(|t| Cursor::new(text, tokens).is_word(t, &["EXECUTE", "EXEC"]));
            for token in tokens.iter().filter(|_| depth < MAX_NESTING) {
                if token.kind == Kind::Dollar || token.kind == Kind::Text && runs_text {
                    self.script(token.inner.clone(), depth + 1);
                }
            }
        });
    }

    /// The statements in tokens without a semicolon between them: T-SQL needs none.
    fn statements(&mut self, tokens: &[Token]) {
        let whole = Cursor::new(self.text, tokens);
        let mut depth = 0usize;
        let mut starts: Vec<usize> = Vec::new();
        for (i, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') => depth = depth.saturating_sub(1),
                Kind::Word if depth == 0 => {
                    let mut here = whole;
                    here.skip(i);
                    let in_alter =
                        starts.last().and_then(|s| tokens.get(*s)).is_some_and(|t| whole.is_word(t, &["ALTER"]));
                    let starts_one = here.eat(&["CREATE"])
                        && here.rest().iter().take(5).any(|t| here.is_word(t, &["TABLE", "INDEX"]))
                        || here.eat(&["ALTER"]) && here.is(&["TABLE", "INDEX"])
                        || !in_alter && here.eat(&["DROP"]) && here.is(&["TABLE", "INDEX"]);
                    if starts_one {
                        starts.push(i);
                    }
                }
                _ => {}
            }
        }
        let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
        for (start, end) in starts.iter().zip(ends) {
            let mut cursor = Cursor::new(self.text, tokens.get(*start..end).unwrap_or_default());
            let _ = match () {
                () if cursor.eat(&["CREATE"]) => self.create(tokens.get(*start), cursor),
                () if cursor.eat(&["ALTER"]) => self.alter(cursor),
                () if cursor.eat(&["DROP"]) => self.drop(cursor),
                () => None,
            };
        }
    }

    fn create(&mut self, start: Option<&Token>, mut cursor: Cursor<'_>) -> Option<()> {
        let is_unique = cursor.eat(&["UNIQUE"]);
        cursor.eat_all(&["CLUSTERED", "NONCLUSTERED", "OR", "REPLACE", "UNLOGGED", "FOREIGN", "EXTERNAL"]);
        if cursor.eat(&["INDEX"]) {
            return if is_unique { self.index(cursor) } else { None };
        }
        // Temporary tables remember nothing.
        if !cursor.eat(&["TABLE"]) {
            return None;
        }
        cursor.eat_all(&["IF", "NOT", "EXISTS"]);
        let token = cursor.name()?;
        let written = cursor.word(token).to_string();
        let place = self.file.span(start?.range.start..token.range.end);
        let mut table = TableFact {
            name: names::snake(&written),
            written,
            place,
            columns: Vec::new(),
            unique: Vec::new(),
            is_partly_unknown: false,
        };
        match cursor.group() {
            Some(inner) => {
                let body = inner.first().zip(inner.last()).and_then(|(a, b)| self.text.get(a.range.start..b.range.end));
                table.is_partly_unknown |= body.is_none_or(|b| ["{{", "${", "<%", "{%"].iter().any(|m| b.contains(m)));
                for part in parts(inner) {
                    self.item(part, &mut table);
                }
            }
            // AS SELECT, LIKE, PARTITION OF, OF type.
            None => table.is_partly_unknown = true,
        }
        let engine = cursor.rest().iter().any(|t| cursor.word(t).contains("MergeTree"));
        table.is_partly_unknown |= engine || cursor.has(&["INHERITS", "LIKE"]);
        self.changes.push(SchemaChange::Create(table));
        Some(())
    }

    /// A column or a constraint.
    fn item(&mut self, tokens: &[Token], table: &mut TableFact) {
        let mut cursor = Cursor::new(self.text, tokens);
        let name = if cursor.eat(&["CONSTRAINT"]) {
            if cursor.is(&["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "EXCLUDE"]) {
                None
            } else {
                cursor.name().map(|t| names::snake(cursor.word(t)))
            }
        } else {
            None
        };
        if is_constraint(cursor) {
            table.is_partly_unknown |= cursor.is(&["LIKE"]);
            table.unique.extend(constraint(cursor, name));
        } else if let Some(column) = self.column(cursor) {
            table.unique.extend(unique_of_column(cursor, &column.name));
            table.columns.push(column);
        }
    }

    fn column(&self, mut cursor: Cursor<'_>) -> Option<ColumnFact> {
        let token = cursor.name()?;
        let kind = cursor.first().map(|t| cursor.word(t).to_ascii_lowercase()).unwrap_or_default();
        let by_default = cursor.rest().iter().skip_while(|t| !cursor.is_word(t, &["DEFAULT", "AS"])).skip(1);
        let has = |words: &[&str]| {
            by_default.clone().any(|t| {
                let word = cursor.word(t);
                is_name(t) && words.iter().any(|w| word.eq_ignore_ascii_case(w))
            })
        };
        let defaults = cursor.rest().iter().position(|t| cursor.is_word(t, &["DEFAULT"]));
        let filled_in = defaults.and_then(|at| cursor.rest().get(at + 1..));
        let lives = filled_in.and_then(|tokens| spans::age(Cursor::new(cursor.text, tokens)));
        let is_serial = kind.contains("serial") || kind == "rowversion";
        let is_counted = cursor.has(&["IDENTITY", "AUTO_INCREMENT", "AUTOINCREMENT", "GENERATED"]);
        Some(ColumnFact {
            written: cursor.word(token).to_string(),
            name: names::snake(cursor.word(token)),
            span: self.file.span(token.range.clone()),
            is_made_anew: is_serial
                || is_counted && !cursor.has(&["STORED", "VIRTUAL"])
                || has(&[
                    "gen_random_uuid",
                    "uuid_generate_v4",
                    "uuid_generate_v1",
                    "uuidv7",
                    "uuid_generate_v7",
                    "newid",
                    "newsequentialid",
                    "uuid",
                    "nextval",
                    "randomblob",
                    "gen_ulid",
                ]),
            is_now: has(&[
                "now",
                "current_timestamp",
                "current_date",
                "getdate",
                "getutcdate",
                "sysdatetime",
                "sysutcdatetime",
                "sysdatetimeoffset",
                "localtimestamp",
                "clock_timestamp",
                "unixepoch",
                "strftime",
                "datetime",
                "sysdate",
            ]),
            lives: lives.map(|(age, place)| (age, self.file.span(place))),
            refers: cursor.has(&["REFERENCES"]),
            kind,
        })
    }

    /// `CREATE UNIQUE INDEX`, from the name on.
    fn index(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        cursor.eat_all(&["CONCURRENTLY", "IF", "NOT", "EXISTS"]);
        let name = if cursor.is(&["ON"]) { None } else { Some(names::snake(cursor.word(cursor.first()?))) };
        let on = cursor.rest().iter().position(|t| cursor.is_word(t, &["ON"]))?;
        cursor.skip(on + 1);
        cursor.eat(&["ONLY"]);
        let table = cursor.name()?;
        let table = names::snake(cursor.word(table));
        let columns = columns(self.text, cursor.next_group()?);
        let set = UniqueFact { name, is_primary: false, is_partial: is_partial(cursor), columns };
        self.changes.push(SchemaChange::AddUnique { table, set });
        Some(())
    }

    fn alter(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        if cursor.eat(&["INDEX"]) {
            cursor.eat_all(&["IF", "EXISTS"]);
            let from = name(&mut cursor)?;
            let to = cursor.eat(&["RENAME"]) && cursor.eat(&["TO"]);
            let to = cursor.name().filter(|_| to).map(|t| names::snake(cursor.word(t)))?;
            self.changes.push(SchemaChange::RenameUnique { table: None, from, to });
            return Some(());
        }
        cursor.eat_all(&["TABLE", "IF", "EXISTS", "ONLY"]);
        let name = cursor.name()?;
        let table = names::snake(cursor.word(name));
        cursor.eat_all(&["WITH", "CHECK", "NOCHECK"]);
        let mut was_add = false;
        for part in parts(cursor.rest()) {
            let action = Cursor::new(self.text, part);
            // T-SQL says ADD once for several.
            was_add = action.is(&["ADD"]) || was_add && !action.is(&["DROP", "ALTER", "RENAME", "MODIFY", "CHANGE"]);
            let _ = self.action(&table, action, was_add);
        }
        Some(())
    }

    fn action(&mut self, table: &str, mut cursor: Cursor<'_>, is_add: bool) -> Option<()> {
        let table = table.to_string();
        if is_add {
            cursor.eat(&["ADD"]);
            cursor.eat(&["COLUMN"]);
            cursor.eat_all(&["IF", "NOT", "EXISTS"]);
            let items = if cursor.first().is_some_and(|t| t.kind == Kind::Mark(b'(')) {
                parts(cursor.group()?)
            } else {
                vec![cursor.rest()]
            };
            let place = self.file.span(0..0);
            let mut added = TableFact {
                written: String::new(),
                name: table.clone(),
                place,
                columns: Vec::new(),
                unique: Vec::new(),
                is_partly_unknown: false,
            };
            for item in items {
                self.item(item, &mut added);
            }
            let columns = added.columns.into_iter();
            self.changes.extend(columns.map(|column| SchemaChange::AddColumn { table: table.clone(), column }));
            // A constraint made of an index takes its place.
            if cursor.eat(&["CONSTRAINT"])
                && let Some(to) = cursor.name().map(|t| names::snake(cursor.word(t)))
                && cursor.has(&["USING"])
                && let Some(at) = cursor.rest().iter().position(|t| cursor.is_word(t, &["INDEX"]))
            {
                cursor.skip(at + 1);
                let from = cursor.name().map(|t| names::snake(cursor.word(t)));
                let table = Some(table.clone());
                self.changes.extend(from.map(|from| SchemaChange::RenameUnique { table, from, to }));
            }
            let sets = added.unique.into_iter();
            self.changes.extend(sets.map(|set| SchemaChange::AddUnique { table: table.clone(), set }));
        } else if cursor.eat(&["DROP"]) {
            let is_primary = cursor.is(&["PRIMARY"]);
            let is_column = !cursor.eat(&["CONSTRAINT", "INDEX", "KEY"]);
            cursor.eat_all(&["COLUMN", "IF", "EXISTS"]);
            let name = if is_primary { None } else { Some(names::snake(cursor.word(cursor.first()?))) };
            self.changes.push(match name {
                Some(column) if is_column => SchemaChange::DropColumn { table, column },
                name => SchemaChange::DropUnique { table: Some(table), name },
            });
        } else if cursor.eat(&["RENAME"]) {
            let change = if cursor.eat(&["TO", "AS"]) {
                SchemaChange::RenameTable { from: table, to: names::snake(cursor.word(cursor.first()?)) }
            } else {
                let is_key = cursor.eat(&["CONSTRAINT", "INDEX", "KEY"]);
                cursor.eat(&["COLUMN"]);
                match renamed(cursor) {
                    Some((from, to)) if is_key => SchemaChange::RenameUnique { table: Some(table), from, to },
                    Some((from, to)) => SchemaChange::RenameColumn { table, from, to },
                    None => SchemaChange::Unclear(table),
                }
            };
            self.changes.push(change);
        } else if cursor.has(&["UNIQUE", "PRIMARY", "CHANGE", "EXCHANGE"]) {
            self.changes.push(SchemaChange::Unclear(table));
        }
        Some(())
    }

    fn drop(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        let is_table = cursor.is(&["TABLE"]);
        cursor.eat_all(&["TABLE", "INDEX", "CONCURRENTLY", "IF", "EXISTS"]);
        if is_table {
            for part in parts(cursor.rest()) {
                let mut part = Cursor::new(self.text, part);
                if let Some(name) = part.name() {
                    self.changes.push(SchemaChange::DropTable(names::snake(part.word(name))));
                }
            }
            return Some(());
        }
        let name = cursor.name()?;
        let name = Some(names::snake(cursor.word(name)));
        let table = if cursor.eat(&["ON"]) { cursor.name().map(|t| names::snake(cursor.word(t))) } else { None };
        self.changes.push(SchemaChange::DropUnique { table, name });
        Some(())
    }
}

/// Whether a part of a table's definition is a constraint and no column. Columns can be called `key` or `index`.
fn is_constraint(mut cursor: Cursor<'_>) -> bool {
    if cursor.is(&[
        "PRIMARY",
        "UNIQUE",
        "CHECK",
        "FOREIGN",
        "EXCLUDE",
        "LIKE",
        "FULLTEXT",
        "SPATIAL",
        "PERIOD",
        "CONSTRAINT",
    ]) {
        return true;
    }
    if !cursor.eat(&["KEY", "INDEX"]) {
        return false;
    }
    let Some(group) = cursor.next_group() else { return false };
    group.first().is_some_and(|t| t.kind != Kind::Number)
}

/// `a TO b`
fn renamed(mut cursor: Cursor<'_>) -> Option<(String, String)> {
    let from = name(&mut cursor)?;
    if cursor.eat(&["TO", "AS"]) { Some((from, name(&mut cursor)?)) } else { None }
}

/// The name that comes next, in snake case.
fn name(cursor: &mut Cursor<'_>) -> Option<String> {
    let token = cursor.name()?;
    Some(names::snake(cursor.word(token)))
}

/// A constraint that makes columns unique.
fn constraint(mut cursor: Cursor<'_>, name: Option<String>) -> Option<UniqueFact> {
    // T-SQL: INDEX name UNIQUE (..).
    if cursor.eat(&["INDEX"]) {
        let own = self::name(&mut cursor)?;
        let columns = if cursor.eat(&["UNIQUE"]) { columns(cursor.text, cursor.next_group()?) } else { return None };
        return Some(UniqueFact { name: Some(own), is_primary: false, is_partial: is_partial(cursor), columns });
    }
    let is_primary = cursor.is(&["PRIMARY"]);
    let excludes = cursor.is(&["EXCLUDE"]);
    if !cursor.eat(&["PRIMARY", "UNIQUE", "EXCLUDE"]) {
        return None;
    }
    // A UNIQUE USING INDEX makes nothing unique that was not.
    if cursor.has(&["USING"]) && cursor.has(&["INDEX"]) {
        return None;
    }
    cursor.eat_all(&["KEY", "INDEX", "CLUSTERED", "NONCLUSTERED"]);
    // MySQL names an index between the words and the columns.
    let own = cursor.first().filter(|t| is_name(t) && !cursor.is_word(t, &["NULLS", "USING"]));
    let own = own.map(|t| names::snake(cursor.word(t)));
    let group = cursor.next_group()?;
    let mut columns = columns(cursor.text, group);
    if excludes {
        columns.retain(|c| c != "with");
        // Only equality in every column makes it a key.
        if group.windows(2).any(|w| matches!(w, [a, b] if cursor.is_word(a, &["WITH"]) && b.kind != Kind::Mark(b'='))) {
            return None;
        }
    }
    Some(UniqueFact { name: name.or(own), is_primary, is_partial: excludes && is_partial(cursor), columns })
}

/// PRIMARY KEY or UNIQUE in a column's own definition.
fn unique_of_column(cursor: Cursor<'_>, column: &str) -> Option<UniqueFact> {
    let is_primary = cursor.has(&["PRIMARY"]);
    let is_unique = is_primary || cursor.has(&["UNIQUE"]);
    // `CONSTRAINT name UNIQUE`
    let named = cursor.rest().windows(3).find(|w| match w {
        [word, _, what] => cursor.is_word(word, &["CONSTRAINT"]) && cursor.is_word(what, &["PRIMARY", "UNIQUE"]),
        _ => false,
    });
    let name = named.and_then(|w| w.get(1)).map(|t| names::snake(cursor.word(t)));
    is_unique.then(|| UniqueFact { name, is_primary, is_partial: false, columns: vec![column.to_string()] })
}

/// The columns in the parentheses of a key; those in expressions, too.
fn columns(text: &str, group: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    for part in parts(group) {
        let mut cursor = Cursor::new(text, part);
        while let Some(token) = cursor.first() {
            if cursor.is_word(token, &["COLLATE"]) {
                break;
            }
            cursor.skip(1);
            let opens = cursor.first().is_some_and(|t| t.kind == Kind::Mark(b'('));
            let is_length = cursor.rest().get(1).is_some_and(|t| t.kind == Kind::Number);
            let is_order = cursor.is_word(token, &["ASC", "DESC", "NULLS", "FIRST", "LAST"]);
            if is_name(token) && !is_order && (!opens || is_length) {
                found.push(names::snake(cursor.word(token)));
            }
        }
    }
    found
}

/// Whether a WHERE leaves records out, other than those without a key.
fn is_partial(mut cursor: Cursor<'_>) -> bool {
    let Some(at) = cursor.rest().iter().position(|t| cursor.is_word(t, &["WHERE"])) else { return false };
    cursor.skip(at + 1);
    let is_test = |part: &[Token]| {
        let words: Vec<String> =
            part.iter().filter(|t| is_name(t)).map(|t| cursor.word(t).to_ascii_lowercase()).collect();
        matches!(words.as_slice(), [_, is, not, null] if is == "is" && not == "not" && null == "null")
    };
    !cursor.rest().split(|t| cursor.is_word(t, &["AND"])).all(is_test)
}
