//! The form as one line of text, so that a test can say what it expects.

use super::super::super::ir::*;

fn name(path: &Path) -> String {
    path.segments.join("::")
}

fn join<T>(all: &[T], separator: &str, f: impl Fn(&T) -> String) -> String {
    all.iter().map(f).collect::<Vec<_>>().join(separator)
}

fn label(label: &Option<Name>, after: &str) -> String {
    label.as_ref().map(|l| format!("{}'{l}{}", if after.is_empty() { " " } else { "" }, after)).unwrap_or_default()
}

pub fn ty(t: &Ty) -> String {
    let args = join(&t.args, ",", ty);
    let path = name(&t.path);
    match t.shape {
        TyShape::Path if t.args.is_empty() => path,
        TyShape::Path => format!("{path}<{args}>"),
        TyShape::Tuple => format!("({args})"),
        TyShape::List => format!("[{args}]"),
        TyShape::Dyn => format!("dyn {path}<{args}>"),
        TyShape::Impl => format!("impl {path}<{args}>"),
        TyShape::Other => format!("?<{args}>"),
    }
}

fn lit(l: &Lit) -> String {
    match l {
        Lit::Int(n) => n.to_string(),
        Lit::Float(n) => format!("{n:?}"),
        Lit::Bool(b) => b.to_string(),
        Lit::Str { text, .. } => format!("{text:?}"),
        Lit::Char(c) => format!("{c:?}"),
    }
}

pub fn pat(p: &Pat) -> String {
    let end = |e: &Option<Expr>| e.as_ref().map(show).unwrap_or_default();
    match &p.kind {
        PatKind::Wild => "_".to_owned(),
        PatKind::Bind { name, sub } => sub.as_ref().map_or(name.to_string(), |s| format!("{name}@{}", pat(s))),
        PatKind::Lit(l) => lit(l),
        PatKind::Range { start, end: e, inclusive } => {
            format!("{}{}{}", end(start), if *inclusive { "..=" } else { ".." }, end(e))
        }
        PatKind::Tuple(parts) => format!("({})", join(parts, ", ", pat)),
        PatKind::TupleStruct { path, parts } => format!("{}({})", name(path), join(parts, ", ", pat)),
        PatKind::Struct { path, fields } => {
            format!("{}{{{}}}", name(path), join(fields, ", ", |(n, p)| format!("{n}: {}", pat(p))))
        }
        PatKind::Path(path) => name(path),
        PatKind::Or(parts) => join(parts, " | ", pat),
        PatKind::List(parts) => format!("[{}]", join(parts, ", ", pat)),
    }
}

fn op(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::And => "&&",
        BinOp::Or => "||",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
    }
}

fn param(p: &Param) -> String {
    p.ty.as_ref().map_or_else(|| pat(&p.pat), |t| format!("{}: {}", pat(&p.pat), ty(t)))
}

fn stmt(s: &Stmt) -> String {
    match s {
        Stmt::Let { pat: p, ty: t, value, otherwise } => {
            let t = t.as_ref().map(|t| format!(": {}", ty(t))).unwrap_or_default();
            let value = value.as_ref().map(|v| format!(" = {}", show(v))).unwrap_or_default();
            let otherwise = otherwise.as_ref().map(|o| format!(" else {}", show(o))).unwrap_or_default();
            format!("let {}{t}{value}{otherwise};", pat(p))
        }
        Stmt::Expr(e) => format!("{};", show(e)),
        Stmt::Item(i) => show_items(std::slice::from_ref(i)).join(" "),
    }
}

pub fn show(e: &Expr) -> String {
    let all = |exprs: &[Expr]| join(exprs, ", ", show);
    let opt = |e: &Option<Expr>| e.as_ref().map(show).unwrap_or_default();
    let after = |e: &Option<Expr>| e.as_ref().map(|e| format!(" {}", show(e))).unwrap_or_default();
    match &*e.kind {
        ExprKind::Lit(l) => lit(l),
        ExprKind::Path(p) => name(p),
        ExprKind::Call { callee, args } => format!("{}({})", show(callee), all(args)),
        ExprKind::Method { receiver, name, types, args, .. } => {
            let types = if types.is_empty() { String::new() } else { format!("::<{}>", join(types, ",", ty)) };
            format!("{}.{name}{types}({})", show(receiver), all(args))
        }
        ExprKind::Field { base, name } => format!("{}.{name}", show(base)),
        ExprKind::Index { base, index } => format!("{}[{}]", show(base), show(index)),
        ExprKind::Unary { op: UnOp::Not, value } => format!("!{}", show(value)),
        ExprKind::Unary { op: UnOp::Neg, value } => format!("-{}", show(value)),
        ExprKind::Binary { op: o, left, right } => format!("({} {} {})", show(left), op(*o), show(right)),
        ExprKind::Assign { op: o, place, value } => {
            format!("{} {}= {}", show(place), o.map(op).unwrap_or_default(), show(value))
        }
        ExprKind::If { cond, then, otherwise } => {
            let otherwise = otherwise.as_ref().map(|o| format!(" else {}", show(o))).unwrap_or_default();
            format!("if {} {}{otherwise}", show(cond), show(then))
        }
        ExprKind::Let { pat: p, value } => format!("let {} = {}", pat(p), show(value)),
        ExprKind::Match { value, arms } => {
            let arm = |a: &Arm| {
                let guard = a.guard.as_ref().map(|g| format!(" if {}", show(g))).unwrap_or_default();
                format!("{}{guard} => {}", pat(&a.pat), show(&a.body))
            };
            format!("match {} {{ {} }}", show(value), join(arms, ", ", arm))
        }
        ExprKind::Loop { label: l, body } => format!("{}loop {}", label(l, " "), show(body)),
        ExprKind::While { label: l, cond, body } => format!("{}while {} {}", label(l, " "), show(cond), show(body)),
        ExprKind::For { label: l, pat: p, iter, body } => {
            format!("{}for {} in {} {}", label(l, " "), pat(p), show(iter), show(body))
        }
        ExprKind::Block { label: l, stmts, tail } => {
            let tail = tail.as_ref().map(|t| format!("=> {}", show(t)));
            let parts: Vec<_> = stmts.iter().map(stmt).chain(tail).collect();
            format!("{}{{ {} }}", label(l, " "), parts.join(" "))
        }
        ExprKind::Break { label: l, value } => format!("break{}{}", label(l, ""), after(value)),
        ExprKind::Continue { label: l } => format!("continue{}", label(l, "")),
        ExprKind::Return { value } => format!("return{}", after(value)),
        ExprKind::Try(e) => format!("{}?", show(e)),
        ExprKind::Await(e) => format!("{}.await", show(e)),
        ExprKind::Closure { params, body, is_async } => {
            format!("{}|{}| {}", if *is_async { "async " } else { "" }, join(params, ", ", param), show(body))
        }
        ExprKind::Async(e) => format!("async {}", show(e)),
        ExprKind::Struct { path, fields, rest } => {
            let mut parts: Vec<_> = fields.iter().map(|(n, e)| format!("{n}: {}", show(e))).collect();
            parts.extend(rest.as_ref().map(|r| format!("..{}", show(r))));
            format!("{}{{{}}}", name(path), parts.join(", "))
        }
        ExprKind::Tuple(items) => format!("({})", all(items)),
        ExprKind::List(items) => format!("[{}]", all(items)),
        ExprKind::Repeat { value, len } => format!("[{}; {}]", show(value), show(len)),
        ExprKind::Range { start, end, inclusive } => {
            format!("{}{}{}", opt(start), if *inclusive { "..=" } else { ".." }, opt(end))
        }
        ExprKind::Cast { value, ty: t } => format!("{} as {}", show(value), ty(t)),
        ExprKind::Format { name, parts, args } => {
            let part = |p: &FormatPart| match p {
                FormatPart::Text(t) => format!("{t:?}").replace("\\u{e9}", "é"),
                FormatPart::Arg(i) => format!("<{}>", args.get(*i).map_or("?".into(), show)),
            };
            let is_used = |i: &usize| parts.contains(&FormatPart::Arg(*i));
            let others: Vec<String> = (0..).zip(args).filter(|(i, _)| !is_used(i)).map(|(_, e)| show(e)).collect();
            let args = if others.is_empty() { String::new() } else { format!("+({})", others.join(", ")) };
            format!("{name}![{}]{args}", join(parts, "", part))
        }
        ExprKind::Matches { value, pat: p, guard } => {
            let guard = guard.as_ref().map(|g| format!(" if {}", show(g))).unwrap_or_default();
            format!("matches({}, {}{guard})", show(value), pat(p))
        }
        ExprKind::Select(arms) => {
            let arm = |a: &SelectArm| {
                let head = match (&a.pat, &a.future) {
                    (Some(p), Some(f)) => format!("{} = {} ", pat(p), show(f)),
                    (None, Some(f)) => format!("{} ", show(f)),
                    _ => String::new(),
                };
                format!("{head}=> {}", show(&a.body))
            };
            format!("select {{ {} }}", join(arms, "; ", arm))
        }
        ExprKind::Join { is_try, futures } => format!("{}join({})", if *is_try { "try_" } else { "" }, all(futures)),
        ExprKind::Macro { path, args } => format!("{}!({})", name(path), all(args)),
        ExprKind::Opaque => "?".to_owned(),
    }
}

fn constant(c: &Const) -> String {
    let value = c.value.as_ref().map(|v| format!(" = {}", show(v))).unwrap_or_default();
    format!("const {}: {}{value}", c.name, ty(&c.ty))
}

fn function(f: &Function) -> String {
    let ret = f.ret.as_ref().map_or("-".to_owned(), ty);
    let is_async = if f.is_async { "async " } else { "" };
    format!("{is_async}fn {}({}) -> {ret} {}", f.name, join(&f.params, ", ", param), show(&f.body))
}

fn attributes(all: &[(Path, String)]) -> String {
    all.iter().map(|(path, text)| format!("#[{}({text})] ", name(path))).collect()
}

pub fn show_items(items: &[Item]) -> Vec<String> {
    items.iter().map(item).collect()
}

fn item(item: &Item) -> String {
    match item {
        Item::Fn(f) => function(f),
        Item::Impl(i) => {
            let parts: Vec<_> = i.consts.iter().map(constant).chain(i.functions.iter().map(function)).collect();
            let head = match (&i.of_trait, i.is_trait) {
                (_, true) => format!("trait {}", ty(&i.ty)),
                (Some(of), _) => format!("impl {} for {}", name(of), ty(&i.ty)),
                (None, _) => format!("impl {}", ty(&i.ty)),
            };
            format!("{head} {{ {} }}", parts.join("; "))
        }
        Item::Const(c) => constant(c),
        Item::Struct(s) => {
            let derives = join(&s.derives, ",", |d| d.to_string());
            let derives = if derives.is_empty() { derives } else { format!("#[derive({derives})] ") };
            let field = |f: &Field| format!("{}{}: {}", attributes(&f.attributes), f.name, ty(&f.ty));
            format!("{derives}{}struct {} {{ {} }}", attributes(&s.attributes), s.name, join(&s.fields, ", ", field))
        }
        Item::Enum { name, variants } => format!("enum {name} {{ {} }}", join(variants, ", ", |v| v.to_string())),
        Item::Alias { name, ty: t } => format!("type {name} = {}", ty(t)),
        Item::Use(u) => format!("{}use {} as {}", if u.public { "pub " } else { "" }, name(&u.path), u.alias),
        Item::Mod { name, items } => format!("mod {name} {{ {} }}", show_items(items).join("; ")),
        Item::ModFile { name, path, test_only } => {
            let only = if *test_only { " for tests" } else { "" };
            format!("mod {name}{only}{}", path.as_ref().map(|p| format!(" = {p}")).unwrap_or_default())
        }
    }
}
