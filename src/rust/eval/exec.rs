//! Running code: blocks, branches, `?`, and where control goes.
use super::env::Env;
use super::machine::{Eval, Exit, Flow, Hint, Machine, Stop};
use super::value::{Kind, Taint, Value, Why};
use crate::rust::ir::{BinOp, Expr, ExprKind, Name, Pat, Stmt};
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    /// Evaluates an expression.
    pub(crate) fn eval(&mut self, expr: &'a Expr, env: &Env<'a>) -> Eval<'a> {
        self.down()?;
        let result = self.eval_kind(expr, env);
        self.up();
        result
    }

    /// Evaluates expressions in order.
    pub(crate) fn eval_all(&mut self, exprs: &'a [Expr], env: &Env<'a>) -> Result<Vec<Value<'a>>, Exit<'a>> {
        exprs.iter().map(|e| self.eval(e, env)).collect()
    }

    // Each arm only calls on: what one level of nesting takes of the stack is what all of them would take together.
    fn eval_kind(&mut self, expr: &'a Expr, env: &Env<'a>) -> Eval<'a> {
        match &*expr.kind {
            ExprKind::Lit(lit) => Ok(self.literal(lit, expr.span)),
            ExprKind::Path(path) => self.path(path, env),
            ExprKind::Call { callee, args } => self.call(callee, args, expr.span, env),
            ExprKind::Method { receiver, name, name_span, types, args } => {
                self.method(receiver, name, *name_span, types, args, expr.span, env)
            }
            ExprKind::Field { base, name } => self.field(base, name, env),
            ExprKind::Index { base, index } => self.index(base, index, env),
            ExprKind::Unary { op, value } => self.unary(*op, value, env),
            ExprKind::Binary { op: op @ (BinOp::And | BinOp::Or), .. } => self.logical(*op, expr, env),
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right, expr.span, env),
            ExprKind::Assign { op, place, value } => self.assign(*op, place, value, expr.span, env),
            ExprKind::If { cond, then, otherwise } => self.branch(cond, then, otherwise.as_ref(), env),
            ExprKind::Let { .. } => {
                let judged = self.condition(expr, env, Hint::plain())?;
                Ok(Value::bool(judged.holds).tainted(judged.taint))
            }
            ExprKind::Match { value, arms } => self.match_on(value, arms, env),
            ExprKind::Loop { label, body } => self.run_loop(expr, label.as_ref(), body, env),
            ExprKind::While { label, cond, body } => self.run_while(expr, label.as_ref(), cond, body, env),
            ExprKind::For { label, pat, iter, body } => self.run_for(expr, label.as_ref(), pat, iter, body, env),
            ExprKind::Block { label, stmts, tail } => self.block(label.as_ref(), stmts, tail.as_ref(), env),
            ExprKind::Break { label, value } => self.leave(label.as_ref(), value.as_ref(), env),
            ExprKind::Continue { label } => self.go_on(label.as_ref()),
            ExprKind::Return { value } => self.give_back(value.as_ref(), env),
            ExprKind::Try(inner) => self.question_mark(inner, expr.span, env),
            ExprKind::Await(inner) => {
                if matches!(*inner.kind, ExprKind::Call { .. }) {
                    self.joined = Some(inner.span);
                }
                let future = self.eval(inner, env)?;
                self.await_value(future, expr.span)
            }
            ExprKind::Closure { params, body, is_async } => Ok(self.closure(params, body, *is_async, env)),
            ExprKind::Async(body) => Ok(self.async_block(body, env)),
            ExprKind::Struct { path, fields, rest } => self.struct_literal(path, fields, rest.as_ref(), expr.span, env),
            ExprKind::Tuple(items) => {
                let items = self.eval_all(items, env)?;
                Ok(if items.is_empty() { Value::unit() } else { Value::tuple(items) })
            }
            ExprKind::List(items) => Ok(Value::list(self.eval_all(items, env)?)),
            ExprKind::Repeat { value, len } => self.repeat_list(value, len, env),
            ExprKind::Range { start, end, inclusive } => self.range(start.as_ref(), end.as_ref(), *inclusive, env),
            ExprKind::Cast { value, ty } => self.cast(value, ty, env),
            ExprKind::Format { name, parts, args } => self.format(name, parts, args, expr.span, env),
            ExprKind::Matches { value, pat, guard } => self.matches_macro(value, pat, guard.as_ref(), expr.span, env),
            ExprKind::Select(arms) => self.select(arms, expr.span, env),
            ExprKind::Join { is_try, futures } => self.join(*is_try, futures, expr.span, env),
            ExprKind::Macro { path, args } => self.macro_call(path, args, expr.span, env),
            ExprKind::Opaque => Ok(self.opaque(Why::Other("stands in code that is not looked into"))),
        }
    }

    fn block(&mut self, label: Option<&'a Name>, stmts: &'a [Stmt], tail: Option<&'a Expr>, env: &Env<'a>) -> Eval<'a> {
        let inner = self.scope(Some(env));
        match self.statements(stmts, tail, &inner) {
            Err(exit) => match *exit {
                Flow::Break { label: Some(to), value } if Some(to) == label => Ok(value),
                other => Err(Box::new(other)),
            },
            ok => ok,
        }
    }

    fn statements(&mut self, stmts: &'a [Stmt], tail: Option<&'a Expr>, env: &Env<'a>) -> Eval<'a> {
        for stmt in stmts {
            match stmt {
                Stmt::Let { pat, ty, value, otherwise } => {
                    let value = match value {
                        Some(value) => self.eval(value, env)?,
                        None => self.opaque(Why::Other("is set later")),
                    };
                    let value = match ty {
                        Some(ty) => self.annotated(value, ty),
                        None => value,
                    };
                    self.let_else(pat, value, otherwise.as_ref(), env)?;
                }
                Stmt::Expr(expr) => {
                    let value = self.eval(expr, env)?;
                    self.dropped(&value)?;
                }
                Stmt::Item(_) => {}
            }
        }
        match tail {
            Some(tail) => self.eval(tail, env),
            None => Ok(Value::unit()),
        }
    }

    fn let_else(
        &mut self,
        pat: &'a Pat,
        value: Value<'a>,
        otherwise: Option<&'a Expr>,
        env: &Env<'a>,
    ) -> Result<(), Exit<'a>> {
        let Some(otherwise) = otherwise else {
            self.bind(pat, value, env);
            return Ok(());
        };
        if self.discovering() {
            self.bind(pat, value, env);
            self.in_branch(otherwise, env)?;
            return Ok(());
        }
        let hint = Hint::plain();
        let taint = value.taint;
        let holds = self.test(pat, &value, env, pat.span, hint)?;
        self.picked(!holds, taint, otherwise.span);
        if !holds {
            self.eval(otherwise, env)?;
        }
        Ok(())
    }

    fn leave(&mut self, label: Option<&'a Name>, value: Option<&'a Expr>, env: &Env<'a>) -> Eval<'a> {
        let value = match value {
            Some(value) => self.eval(value, env)?,
            None => Value::unit(),
        };
        if self.discovering() {
            return Ok(value);
        }
        Err(Box::new(Flow::Break { label, value }))
    }

    fn go_on(&mut self, label: Option<&'a Name>) -> Eval<'a> {
        if self.discovering() {
            return Ok(Value::unit());
        }
        Err(Box::new(Flow::Continue { label }))
    }

    fn give_back(&mut self, value: Option<&'a Expr>, env: &Env<'a>) -> Eval<'a> {
        let value = match value {
            Some(value) => self.eval(value, env)?,
            None => Value::unit(),
        };
        self.return_value(value)
    }

    /// Returns from the function.
    pub(crate) fn return_value(&mut self, value: Value<'a>) -> Eval<'a> {
        if self.discovering() {
            if let Some(returned) = self.returned.last_mut() {
                returned.get_or_insert_with(|| value.clone());
            }
            return Ok(value);
        }
        Err(Box::new(Flow::Return(value)))
    }

    fn question_mark(&mut self, inner: &'a Expr, span: Span, env: &Env<'a>) -> Eval<'a> {
        let value = self.eval(inner, env)?;
        self.unwrap_or_return(value, span)
    }

    /// `value?`
    pub(crate) fn unwrap_or_return(&mut self, value: Value<'a>, span: Span) -> Eval<'a> {
        let value = self.settle(value, span)?;
        let taint = value.taint;
        match &value.kind {
            Kind::Variant(v) => match (&*v.name, v.fields.first()) {
                ("Ok" | "Some", Some((_, x))) => Ok(x.clone().tainted(taint)),
                ("Err", Some((_, x))) if !self.discovering() => {
                    let error = self.converted(x.clone().tainted(taint));
                    self.return_value(Value::wrap("Err", error))
                }
                ("None", _) if !self.discovering() => self.return_value(value),
                ("Err" | "None", _) => Ok(self.opaque(Why::Other("is not there"))),
                _ => Ok(value),
            },
            Kind::Unknown(u) => {
                if !u.succeeded && taint.has(Taint::FAILURE) && !self.discovering() {
                    let holds = self.decide(&value, span, Hint::plain())?;
                    if !holds && self.gives_option() {
                        return self.return_value(Value::none().tainted(taint));
                    }
                    if !holds {
                        let error = self.derived("error", Why::Other("is an error"), &[&value]);
                        return self.return_value(Value::wrap("Err", error));
                    }
                }
                Ok(self.inside(&value))
            }
            _ => Ok(value),
        }
    }

    /// Whether the function that runs gives back an `Option`, as far as it says what it gives back.
    fn gives_option(&self) -> bool {
        let Some(frame) = self.frames.last().filter(|f| !f.closure) else { return false };
        let ret = self.shared.index.function(frame.function).function.ret.as_ref();
        ret.and_then(|ty| ty.path.segments.last()).is_some_and(|n| &**n == "Option")
    }

    /// The end of the program.
    pub(crate) fn panic(&mut self) -> Eval<'a> {
        if self.discovering() {
            return Ok(Value::unit());
        }
        Err(Stop::Panic.into())
    }
}
