//! Rust in a small form of our own: what a reading needs, Send, with byte ranges and without the syntax tree.
//!
//! Lowering (syn → this) is a pure function of one file. Whether a loop is a retry is decided later, when the
//! functions of all files are there, by running this form on a call that fails.

use std::sync::Arc;

use crate::source::Span;

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

/// An expression with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: Box<ExprKind>,
}

/// Kinds of expressions. Parentheses, groups, references, `unsafe`, `const` blocks and dereferences are looked through.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Lit(Lit),
    /// A variable, constant, function or unit struct.
    Path(Path),
    /// `f(a, b)`; the callee is usually a path.
    Call {
        /// What is called.
        callee: Expr,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `a.f(b)`
    Method {
        /// The receiver.
        receiver: Expr,
        /// The method.
        name: Name,
        /// The name's place.
        name_span: Span,
        /// Turbofish types.
        types: Vec<Ty>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `a.b`, `a.0`
    Field {
        /// The value.
        base: Expr,
        /// The field.
        name: Name,
    },
    /// `a[b]`
    Index {
        /// The value.
        base: Expr,
        /// The index.
        index: Expr,
    },
    /// `-a`, `!a`
    Unary {
        /// The operator.
        op: UnOp,
        /// The operand.
        value: Expr,
    },
    /// `a + b`, `a && b`, `a < b`
    Binary {
        /// The operator.
        op: BinOp,
        /// Left.
        left: Expr,
        /// Right.
        right: Expr,
    },
    /// `a = b` (`op: None`), `a += b`
    Assign {
        /// The operator of a compound assignment.
        op: Option<BinOp>,
        /// The place.
        place: Expr,
        /// The value.
        value: Expr,
    },
    /// `if c { } else { }`; conditions may hold [`ExprKind::Let`] and `&&`.
    If {
        /// The condition.
        cond: Expr,
        /// Then.
        then: Expr,
        /// Else.
        otherwise: Option<Expr>,
    },
    /// `let p = e` as a condition.
    Let {
        /// The pattern.
        pat: Pat,
        /// The value.
        value: Expr,
    },
    /// `match`
    Match {
        /// The value.
        value: Expr,
        /// The arms.
        arms: Vec<Arm>,
    },
    /// `loop`; also the shape that `while` and `for` keep below.
    Loop {
        /// The label.
        label: Option<Name>,
        /// The body.
        body: Expr,
    },
    /// `while`
    While {
        /// The label.
        label: Option<Name>,
        /// The condition.
        cond: Expr,
        /// The body.
        body: Expr,
    },
    /// `for`
    For {
        /// The label.
        label: Option<Name>,
        /// The pattern.
        pat: Pat,
        /// What is iterated.
        iter: Expr,
        /// The body.
        body: Expr,
    },
    /// `{ .. }`, with the value of its last expression, and its label.
    Block {
        /// The label.
        label: Option<Name>,
        /// The statements.
        stmts: Vec<Stmt>,
        /// The last expression.
        tail: Option<Expr>,
    },
    /// `break 'a e`
    Break {
        /// The label.
        label: Option<Name>,
        /// The value.
        value: Option<Expr>,
    },
    /// `continue 'a`
    Continue {
        /// The label.
        label: Option<Name>,
    },
    /// `return e`
    Return {
        /// The value.
        value: Option<Expr>,
    },
    /// `e?`
    Try(Expr),
    /// `e.await`
    Await(Expr),
    /// `|a| e`, `async |a| e`
    Closure {
        /// The parameters.
        params: Vec<Param>,
        /// The body.
        body: Expr,
        /// Whether it is an async closure.
        is_async: bool,
    },
    /// `async { }`, `async move { }`
    Async(Expr),
    /// `S { a: b, ..c }`
    Struct {
        /// The type.
        path: Path,
        /// The fields.
        fields: Vec<(Name, Expr)>,
        /// `..c`
        rest: Option<Expr>,
    },
    /// `(a, b)`; `()` has none.
    Tuple(Vec<Expr>),
    /// `[a, b]`, `vec![a, b]`
    List(Vec<Expr>),
    /// `[a; n]`, `vec![a; n]`
    Repeat {
        /// The element.
        value: Expr,
        /// How many.
        len: Expr,
    },
    /// `a..b`, `a..=b`
    Range {
        /// The start.
        start: Option<Expr>,
        /// The end.
        end: Option<Expr>,
        /// Whether the end belongs to it.
        inclusive: bool,
    },
    /// `e as T`
    Cast {
        /// The value.
        value: Expr,
        /// The type.
        ty: Ty,
    },
    /// `format!`-like macros, their format string split: `format!("{base}/x/{}", id)`.
    Format {
        /// The macro: `format`, `bail`, `anyhow`, `println`, `warn`, `panic`, ...
        name: Name,
        /// Text and arguments in order.
        parts: Vec<FormatPart>,
        /// The arguments, each once, used by the format string or not; the names in it come last.
        args: Vec<Expr>,
    },
    /// `matches!(e, p if g)`
    Matches {
        /// The value.
        value: Expr,
        /// The pattern.
        pat: Pat,
        /// The guard.
        guard: Option<Expr>,
    },
    /// `tokio::select! { .. }`
    Select(Vec<SelectArm>),
    /// `join!`, `try_join!`: all at once.
    Join {
        /// Whether an error of one ends all.
        is_try: bool,
        /// The futures.
        futures: Vec<Expr>,
    },
    /// Another macro whose arguments parse as expressions.
    Macro {
        /// Its path.
        path: Path,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// Something that is not looked into. Evaluates to an unknown value.
    Opaque,
}

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub enum Lit {
    /// An integer of any type.
    Int(i128),
    /// A float.
    Float(f64),
    /// `true`, `false`
    Bool(bool),
    /// A string; `verbatim` is the offset of its first byte in the file where the text stands there byte for byte.
    Str {
        /// The text.
        text: Arc<str>,
        /// The offset.
        verbatim: Option<u32>,
    },
    /// A character.
    Char(char),
}

/// Unary operators that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnOp {
    /// `!`
    Not,
    /// `-`
    Neg,
}

/// Binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt {
    /// `let p: T = e else { .. };`
    Let {
        /// The pattern.
        pat: Pat,
        /// The annotation.
        ty: Option<Ty>,
        /// The value.
        value: Option<Expr>,
        /// The block of a let-else.
        otherwise: Option<Expr>,
    },
    /// An expression, its value dropped.
    Expr(Expr),
    /// An item inside a body.
    Item(Item),
}

/// An arm of a match.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// The whole arm.
    pub span: Span,
    /// The pattern.
    pub pat: Pat,
    /// The guard.
    pub guard: Option<Expr>,
    /// The body.
    pub body: Expr,
}

/// An arm of a `select!`.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectArm {
    /// The pattern; `None` for `else`.
    pub pat: Option<Pat>,
    /// The future.
    pub future: Option<Expr>,
    /// The body.
    pub body: Expr,
}

/// A piece of a format string.
#[derive(Debug, Clone, PartialEq)]
pub enum FormatPart {
    /// Text.
    Text(Arc<str>),
    /// An argument, by its number among those of the macro. One can be used any number of times.
    Arg(usize),
}

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
