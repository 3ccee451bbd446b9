//! The keys of `retrylint.toml`, in one table: the reader, its messages and the documentation all take them from here.

/// A key.
#[derive(Debug)]
pub struct Key {
    /// The table it stands in; "" is the top of the file.
    pub table: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What holds where it is not written, as TOML.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number from 1.
    Count,
    /// `true` or `false`.
    Flag,
    /// A level, or `"never"`.
    FailOn,
    /// A text.
    Text,
    /// The path of a file, seen from the configuration file.
    File,
    /// The path of a file, or a list of them.
    Files,
    /// A list of texts.
    Texts,
    /// A list of globs.
    Globs,
    /// A list of rules.
    Rules,
    /// A day.
    Day,
    /// A table: rule = level, or `"off"`.
    Levels,
    /// A table: system = version.
    Versions,
    /// A span of time.
    Duration,
    /// A wait: a span of time that can be short.
    Wait,
    /// A number from 0.
    Number,
    /// A chain of keys.
    Path,
    /// A list of statuses.
    Statuses,
    /// A unit of time.
    Unit,
    /// A table, whose keys stand under this name in [`KEYS`].
    Table,
    /// A list of tables (`[[name]]`), whose keys stand under this name in [`KEYS`].
    Tables,
}

impl Kind {
    /// What to write, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Count => "a whole number from 1",
            Self::Flag => "`true` or `false`",
            Self::FailOn => "\"error\", \"warning\", \"note\" or \"never\"",
            Self::Text => "a text in quotes",
            Self::File => "a path, from this file on",
            Self::Files => "a path from this file on, or a list of them",
            Self::Texts => "a list of texts",
            Self::Globs => "a list of globs",
            Self::Rules => "a list of rules",
            Self::Day => "a day: \"2027-01-31\"",
            Self::Levels => "a table: rule = \"error\", \"warning\", \"note\" or \"off\"",
            Self::Versions => "a table: system = \"major.minor\"",
            Self::Duration => "a span of time: \"30s\", \"12h\", \"7d\"",
            Self::Wait => "a span of time: \"250ms\", \"2s\", \"1m\"",
            Self::Number => "a number from 0",
            Self::Path => "a chain of keys: \"retry.max\"",
            Self::Statuses => "a list of statuses from 400 to 599",
            Self::Unit => "\"us\", \"ms\", \"s\" or \"m\"",
            Self::Table | Self::Tables => "a table",
        }
    }
}

/// Every key, in the order in which they are documented.
pub const KEYS: &[Key] = &[
    Key {
        table: "",
        name: "extend",
        kind: Kind::Files,
        default: "[]",
        doc: "Files whose settings hold as well, those of this file over them.",
    },
    Key {
        table: "",
        name: "max-amplification",
        kind: Kind::Count,
        default: "10",
        doc: "The attempts that one request may cause at the end of a call path. A path above it is `retry-amplification`.",
    },
    Key {
        table: "",
        name: "fail-on",
        kind: Kind::FailOn,
        default: "\"error\"",
        doc: "The lowest level that makes the run fail with exit status 1.",
    },
    Key { table: "", name: "notes", kind: Kind::Flag, default: "false", doc: "Shows notes in the text output." },
    Key {
        table: "",
        name: "strict",
        kind: Kind::Flag,
        default: "false",
        doc: "Makes the run fail if any file, or part of one, could not be read.",
    },
    Key {
        table: "",
        name: "include-tests",
        kind: Kind::Flag,
        default: "false",
        doc: "Takes in Rust code under `cfg(test)`, `tests/`, `benches/` and `examples/`.",
    },
    Key {
        table: "",
        name: "include-generated",
        kind: Kind::Flag,
        default: "false",
        doc: "Takes in files that say in their first lines that a program wrote them: `@generated`, `Code generated … DO NOT EDIT`.",
    },
    Key {
        table: "",
        name: "exclude",
        kind: Kind::Globs,
        default: "[]",
        doc: "Files and folders that are not read. A file given by name is read all the same.",
    },
    Key {
        table: "",
        name: "baseline",
        kind: Kind::File,
        default: "[]",
        doc: "The baseline that `check` uses, as `--baseline` does: what it lists is no finding. `retrylint baseline` writes it.",
    },
    Key {
        table: "",
        name: "rules",
        kind: Kind::Levels,
        default: "{}",
        doc: "The level of a rule: \"error\", \"warning\", \"note\" or \"off\".",
    },
    Key {
        table: "",
        name: "override",
        kind: Kind::Tables,
        default: "[]",
        doc: "Levels for findings in some files only. Of several that apply, the last one wins.",
    },
    Key {
        table: "override",
        name: "paths",
        kind: Kind::Globs,
        default: "",
        doc: "The files: those in which a finding starts.",
    },
    Key { table: "override", name: "rules", kind: Kind::Levels, default: "", doc: "The levels there." },
    Key {
        table: "",
        name: "allow",
        kind: Kind::Tables,
        default: "[]",
        doc: "Findings that are right as they are: what a comment says in a file, said of some files here.",
    },
    Key { table: "allow", name: "rules", kind: Kind::Rules, default: "", doc: "The rules." },
    Key {
        table: "allow",
        name: "paths",
        kind: Kind::Globs,
        default: "",
        doc: "The files: those in which a place of the finding is.",
    },
    Key {
        table: "allow",
        name: "reason",
        kind: Kind::Text,
        default: "[]",
        doc: "Why they are right there. Without one it does not hold, unless `allow-without-reason` says so.",
    },
    Key { table: "allow", name: "until", kind: Kind::Day, default: "[]", doc: "The last day on which it holds." },
    Key {
        table: "",
        name: "allow-without-reason",
        kind: Kind::Flag,
        default: "false",
        doc: "Lets comments and `[[allow]]` hold that give no reason.",
    },
    Key {
        table: "",
        name: "allow-unused",
        kind: Kind::Flag,
        default: "false",
        doc: "Says nothing of comments and `[[allow]]` that allow nothing.",
    },
    Key {
        table: "",
        name: "service",
        kind: Kind::Tables,
        default: "[]",
        doc: "A service that the files do not show, or not well enough.",
    },
    Key { table: "service", name: "name", kind: Kind::Text, default: "", doc: "Its name." },
    Key { table: "service", name: "paths", kind: Kind::Globs, default: "[]", doc: "Where its sources are." },
    Key {
        table: "service",
        name: "hosts",
        kind: Kind::Texts,
        default: "[]",
        doc: "Host names by which others call it.",
    },
    Key {
        table: "service",
        name: "calls",
        kind: Kind::Texts,
        default: "[]",
        doc: "Services or hosts that it calls, where its sources do not show it.",
    },
    Key {
        table: "",
        name: "helper",
        kind: Kind::Tables,
        default: "[]",
        doc: "A function, method or macro of the project that retries, where its code alone does not show it.",
    },
    Key {
        table: "helper",
        name: "name",
        kind: Kind::Text,
        default: "",
        doc: "Its name, with its type or module before it where several share it: `Client::with_retry`; `retry!` is a macro.",
    },
    Key {
        table: "helper",
        name: "attempts",
        kind: Kind::Count,
        default: "[]",
        doc: "How often it tries, the first time included.",
    },
    Key { table: "helper", name: "retries", kind: Kind::Number, default: "[]", doc: "How often it tries again." },
    Key {
        table: "helper",
        name: "attempts-argument",
        kind: Kind::Count,
        default: "[]",
        doc: "Which argument, from 1, says how often it tries, the first time included. A method's receiver does not count.",
    },
    Key {
        table: "helper",
        name: "retries-argument",
        kind: Kind::Count,
        default: "[]",
        doc: "Which argument, from 1, says how often it tries again.",
    },
    Key {
        table: "helper",
        name: "call-argument",
        kind: Kind::Count,
        default: "[]",
        doc: "Which argument, from 1, is tried. Without it, the last one that can be called; of a macro, the last one.",
    },
    Key {
        table: "helper",
        name: "wait",
        kind: Kind::Wait,
        default: "[]",
        doc: "How long it waits before it tries again.",
    },
    Key {
        table: "helper",
        name: "wait-argument",
        kind: Kind::Count,
        default: "[]",
        doc: "Which argument, from 1, says how long it waits.",
    },
    Key {
        table: "helper",
        name: "factor",
        kind: Kind::Number,
        default: "[]",
        doc: "What each wait is multiplied by to give the next. Without it, all are the same.",
    },
    Key { table: "helper", name: "cap", kind: Kind::Wait, default: "[]", doc: "The longest wait." },
    Key {
        table: "helper",
        name: "jitter",
        kind: Kind::Flag,
        default: "[]",
        doc: "Whether its waits are drawn at random.",
    },
    Key {
        table: "",
        name: "system",
        kind: Kind::Tables,
        default: "[]",
        doc: "A format of settings of the project's own. What is not described is not known.",
    },
    Key { table: "system", name: "name", kind: Kind::Text, default: "", doc: "Its name, as findings show it." },
    Key { table: "system", name: "files", kind: Kind::Globs, default: "", doc: "Its files." },
    Key {
        table: "system",
        name: "layers",
        kind: Kind::Path,
        default: "",
        doc: "The chain of keys that leads to each client. `*` is any key or item, and its name; `.` is the whole file.",
    },
    Key {
        table: "system",
        name: "target",
        kind: Kind::Path,
        default: "[]",
        doc: "The URL or host, from the client on. Without it, the client's name is taken for that of a service.",
    },
    Key {
        table: "system",
        name: "attempts",
        kind: Kind::Path,
        default: "[]",
        doc: "How often it tries, the first time included.",
    },
    Key { table: "system", name: "retries", kind: Kind::Path, default: "[]", doc: "How often it tries again." },
    Key { table: "system", name: "base", kind: Kind::Path, default: "[]", doc: "The first wait." },
    Key {
        table: "system",
        name: "factor",
        kind: Kind::Path,
        default: "[]",
        doc: "What each wait is multiplied by to give the next.",
    },
    Key { table: "system", name: "cap", kind: Kind::Path, default: "[]", doc: "The longest wait." },
    Key {
        table: "system",
        name: "jitter",
        kind: Kind::Path,
        default: "[]",
        doc: "Jitter: a flag, `full`, `none`, or how much of the wait is random, from 0 to 1.",
    },
    Key {
        table: "system",
        name: "statuses",
        kind: Kind::Path,
        default: "[]",
        doc: "The statuses that are retried, beside failed connections.",
    },
    Key {
        table: "system",
        name: "unit",
        kind: Kind::Unit,
        default: "\"s\"",
        doc: "What a bare number counts where a time is written.",
    },
    Key {
        table: "system",
        name: "default-attempts",
        kind: Kind::Count,
        default: "[]",
        doc: "How often it tries where nothing is written.",
    },
    Key {
        table: "system",
        name: "default-retries",
        kind: Kind::Number,
        default: "[]",
        doc: "How often it tries again where nothing is written.",
    },
    Key {
        table: "system",
        name: "default-base",
        kind: Kind::Wait,
        default: "[]",
        doc: "The first wait where none is written.",
    },
    Key {
        table: "system",
        name: "default-factor",
        kind: Kind::Number,
        default: "[]",
        doc: "The factor where none is written.",
    },
    Key {
        table: "system",
        name: "default-cap",
        kind: Kind::Wait,
        default: "[]",
        doc: "The longest wait where none is written.",
    },
    Key {
        table: "system",
        name: "default-jitter",
        kind: Kind::Flag,
        default: "[]",
        doc: "Whether waits are drawn at random where nothing is written.",
    },
    Key {
        table: "system",
        name: "default-statuses",
        kind: Kind::Statuses,
        default: "[]",
        doc: "The statuses that are retried where none are written.",
    },
    Key {
        table: "",
        name: "redelivery",
        kind: Kind::Table,
        default: "{}",
        doc: "How requests and messages come a second time, where the files do not show it.",
    },
    Key {
        table: "redelivery",
        name: "window",
        kind: Kind::Duration,
        default: "[]",
        doc: "How long after the first time a request or message can still come again. Records of handled ones that go sooner are `short-idempotency-retention`.",
    },
    Key {
        table: "",
        name: "systems",
        kind: Kind::Versions,
        default: "{}",
        doc: "The version of a system whose defaults depend on it. Without one, the newest is assumed.",
    },
];

/// The keys of a table.
pub fn keys_of(table: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.table == table)
}

/// The keys as a Markdown table.
pub fn markdown() -> String {
    let mut out = String::from("| key | takes | default | what it does |\n|---|---|---|---|\n");
    for key in KEYS {
        let name = match (key.table, key.kind) {
            ("", Kind::Tables) => format!("`[[{}]]`", key.name),
            ("", Kind::Levels | Kind::Versions | Kind::Table) => format!("`[{}]`", key.name),
            ("", _) => format!("`{}`", key.name),
            (table, _) if keys_of("").any(|key| key.name == table && key.kind == Kind::Table) => {
                format!("`[{table}]` `{}`", key.name)
            }
            (table, _) => format!("`[[{table}]]` `{}`", key.name),
        };
        let default = match key.default {
            "" => "required".to_owned(),
            "[]" | "{}" => "none".to_owned(),
            written => format!("`{written}`"),
        };
        out += &format!("| {name} | {} | {default} | {} |\n", key.kind.words(), key.doc);
    }
    out
}
