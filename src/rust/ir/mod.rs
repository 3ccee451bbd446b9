//! Rust in a small form of our own: what a reading needs, Send, with byte ranges and without the syntax tree.
//!
//! Lowering (syn → this) is a pure function of one file. Whether a loop is a retry is decided later, when the
//! functions of all files are there, by running this form on a call that fails.

mod expr;
mod pat;

use std::sync::Arc;

use crate::source::Span;

pub use expr::{Arm, BinOp, Expr, ExprKind, FormatPart, Lit, SelectArm, Stmt, UnOp};
pub use pat::{Pat, PatKind};

/// A name.
pub type Name = Arc<str>;

/// One file.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// The path as shown: `services/orders/src/client.rs`.
    pub path: Arc<str>,
    /// The items at the top level of the file; inline modules nest.
    pub items: Vec<Item>,
    /// Whether any item was left out for being under `cfg(test)` or in a tests, benches or examples folder.
    pub tests_left_out: bool,
}

/// An item.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A function outside of any impl.
    Fn(Function),
    /// An impl block or a trait with its provided methods.
    Impl(Impl),
    /// `const` or `static` (a `LazyLock::new(|| ..)` stays a call with a closure).
    Const(Const),
    /// A struct.
    Struct(Struct),
    /// An enum: variant names only, with their discriminants where written.
    Enum {
        /// Its name.
        name: Name,
        /// The variants.
        variants: Vec<Name>,
    },
    /// `type A = B;`
    Alias {
        /// The new name.
        name: Name,
        /// What it stands for.
        ty: Ty,
    },
    /// One name that a `use` brings in.
    Use(Use),
    /// `mod name { .. }`
    Mod {
        /// Its name.
        name: Name,
        /// Its items.
        items: Vec<Item>,
    },
    /// `mod name;`, with the `#[path]` if there is one.
    ModFile {
        /// Its name.
        name: Name,
        /// The value of `#[path = "..."]`.
        path: Option<Arc<str>>,
        /// Whether only tests compile the file.
        test_only: bool,
    },
}

/// One leaf of a `use` tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// The path, `crate`, `self` and `super` as written.
    pub path: Path,
    /// The name it gets here; `*` for a glob; `_` for `as _`.
    pub alias: Name,
    /// Whether it is `pub`.
    pub public: bool,
}

/// A path: its segments without generic arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// The segments. `<T as Trait>::f` gives `T`'s path and `f`.
    pub segments: Vec<Name>,
}

/// An impl block.
#[derive(Debug, Clone, PartialEq)]
pub struct Impl {
    /// The type; for a trait's own provided methods, the trait's name.
    pub ty: Ty,
    /// The trait's path, if it is a trait impl.
    pub of_trait: Option<Path>,
    /// Whether this is a trait definition with provided methods.
    pub is_trait: bool,
    /// The functions.
    pub functions: Vec<Function>,
    /// Associated constants.
    pub consts: Vec<Const>,
}

/// A function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// The name's place.
    pub name_span: Span,
    /// The whole item.
    pub span: Span,
    /// Parameters; a receiver is the binding `self`.
    pub params: Vec<Param>,
    /// The return type (`()` left out).
    pub ret: Option<Ty>,
    /// The body.
    pub body: Expr,
    /// Whether it is `async` (or returns a boxed future by `async_trait`).
    pub is_async: bool,
    /// Whether it is `pub` in any degree.
    pub public: bool,
    /// Attribute paths with the text of their arguments: `tokio::main`, `retry`, `instrument`.
    pub attributes: Vec<(Path, String)>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// The pattern.
    pub pat: Pat,
    /// The type; `None` for `self` and untyped closure parameters.
    pub ty: Option<Ty>,
}

/// A type, as far as it is of use: `&T`, `Box<T>`, `Arc<T>`, `dyn T`, `impl T` keep their parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ty {
    /// The path (`Vec`, `reqwest::Client`); empty for tuples, slices and functions.
    pub path: Path,
    /// Generic arguments; the parts of a tuple, the element of a slice or array.
    pub args: Vec<Ty>,
    /// The shape around it.
    pub shape: TyShape,
}

/// What a type is besides a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TyShape {
    /// A path.
    Path,
    /// A tuple.
    Tuple,
    /// A slice or an array.
    List,
    /// `dyn Trait`
    Dyn,
    /// `impl Trait`
    Impl,
    /// Anything else: functions, pointers, `_`.
    Other,
}

/// A constant or static.
#[derive(Debug, Clone, PartialEq)]
pub struct Const {
    /// Its name.
    pub name: Name,
    /// The name's place.
    pub span: Span,
    /// Its type.
    pub ty: Ty,
    /// Its value; `None` in a trait without a default.
    pub value: Option<Expr>,
}

/// A struct.
#[derive(Debug, Clone, PartialEq)]
pub struct Struct {
    /// Its name.
    pub name: Name,
    /// Its fields; tuple fields are named `0`, `1`, ...
    pub fields: Vec<Field>,
    /// Derives, last segments: `Deserialize`, `Default`, `Parser`.
    pub derives: Vec<Name>,
    /// Its own attributes besides derives, with the text of their arguments: `serde` `default, rename_all = "..."`.
    pub attributes: Vec<(Path, String)>,
    /// The name's place.
    pub span: Span,
}

/// A field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Ty,
    /// Attributes: `serde` `default = "three"`, `arg` `long, default_value_t = 3`.
    pub attributes: Vec<(Path, String)>,
    /// The name's place.
    pub span: Span,
}
