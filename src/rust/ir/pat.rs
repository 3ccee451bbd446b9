//! Patterns.
use super::{Expr, Lit, Name, Path};
use crate::source::Span;

/// A pattern with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Pat {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: PatKind,
}

/// Kinds of patterns. References and parentheses are looked through.
#[derive(Debug, Clone, PartialEq)]
pub enum PatKind {
    /// `_`, `..`
    Wild,
    /// `x`, `x @ p`
    Bind {
        /// The name. A unit struct, constant or enum variant looks the same; scopes decide.
        name: Name,
        /// The pattern after `@`.
        sub: Option<Box<Pat>>,
    },
    /// A literal.
    Lit(Lit),
    /// `a..=b`, open ends allowed.
    Range {
        /// The start.
        start: Option<Expr>,
        /// The end.
        end: Option<Expr>,
        /// Whether the end belongs to it.
        inclusive: bool,
    },
    /// `(a, b)`
    Tuple(Vec<Pat>),
    /// `Some(a)`, `Error::Status(code, ..)`
    TupleStruct {
        /// The variant.
        path: Path,
        /// The parts.
        parts: Vec<Pat>,
    },
    /// `S { a, b: p, .. }`
    Struct {
        /// The variant.
        path: Path,
        /// The fields.
        fields: Vec<(Name, Pat)>,
    },
    /// `StatusCode::NOT_FOUND`, `None`
    Path(Path),
    /// `a | b`
    Or(Vec<Pat>),
    /// `[a, b, ..]`
    List(Vec<Pat>),
}
