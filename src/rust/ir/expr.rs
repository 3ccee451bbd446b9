//! Expressions and statements.
use std::sync::Arc;

use super::{Item, Name, Param, Pat, Path, Ty};
use crate::source::Span;

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
