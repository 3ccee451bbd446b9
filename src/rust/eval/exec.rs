//! Running code: blocks, branches, `?`, and where control goes.

use super::env::Env;
use super::episode::Pick;
use super::machine::{Eval, Exit, Flow, Hint, Machine, Stop};
use super::statics::{diverges, leaves, matters};
use super::value::{Kind, Taint, Value, Why};
use crate::rust::ir::{Arm, BinOp, Expr, ExprKind, Name, Pat, SelectArm, Stmt, UnOp};
use crate::source::Span;

/// What a condition came to, and what it hung on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) holds: bool,
    pub(crate) taint: Taint,
}

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
                    self.eval(expr, env)?;
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

    /// Evaluates a branch of a discovery, and remembers that what is found stands in it.
    pub(crate) fn in_branch(&mut self, body: &'a Expr, env: &Env<'a>) -> Eval<'a> {
        self.branches.push(body.span);
        let result = self.eval(body, env);
        self.branches.pop();
        result
    }

    /// Whether the call under test stands in `span`.
    pub(crate) fn leads_to_goal(&self, span: Span) -> bool {
        self.goal.is_some_and(|g| g.branches.contains(&span))
    }

    fn branch(&mut self, cond: &'a Expr, then: &'a Expr, otherwise: Option<&'a Expr>, env: &Env<'a>) -> Eval<'a> {
        let scope = self.scope(Some(env));
        if self.discovering() {
            self.condition(cond, &scope, Hint::plain())?;
            let value = self.in_branch(then, &scope)?;
            let other = match otherwise {
                Some(otherwise) => self.in_branch(otherwise, env)?,
                None => Value::unit(),
            };
            return Ok(if diverges(then) { other } else { value });
        }
        let forced = match otherwise {
            _ if self.hits > 0 => None,
            _ if self.leads_to_goal(then.span) => Some(true),
            Some(otherwise) if self.leads_to_goal(otherwise.span) => Some(false),
            _ => None,
        };
        let hint = Hint {
            prefer: !diverges(then),
            matters: matters(then) || otherwise.is_some_and(matters),
            leaves: leaves(then) || otherwise.is_some_and(leaves),
            forced,
            turns_after: None,
        };
        let judged = self.condition(cond, &scope, hint)?;
        self.picked(judged.holds, judged.taint, cond.span);
        match (judged.holds, otherwise) {
            (true, _) => self.eval(then, &scope),
            (false, Some(otherwise)) => self.eval(otherwise, env),
            (false, None) => Ok(Value::unit()),
        }
    }

    /// Remembers the test that sends control back to the call: the last one on its failure that came out true.
    pub(crate) fn picked(&mut self, holds: bool, taint: Taint, span: Span) {
        if !taint.has(Taint::FAILURE) || taint.has(Taint::SERVER_WAIT) {
            return;
        }
        if holds {
            self.pick = Some(Pick { span, weak: false });
        } else if self.pick.is_none() {
            self.pick = Some(Pick { span, weak: true });
        }
    }

    /// A condition: `a && let p = b`. What its patterns bind goes into `env`.
    pub(crate) fn condition(&mut self, cond: &'a Expr, env: &Env<'a>, hint: Hint) -> Result<Judged, Exit<'a>> {
        match &*cond.kind {
            ExprKind::Binary { op: op @ (BinOp::And | BinOp::Or), left, right } => {
                let first = self.condition(left, env, hint)?;
                if first.holds == (*op == BinOp::Or) && !self.discovering() {
                    return Ok(first);
                }
                let second = self.condition(right, env, hint)?;
                Ok(Judged { holds: second.holds, taint: first.taint.with(second.taint) })
            }
            ExprKind::Let { pat, value } => {
                let value = self.eval(value, env)?;
                let taint = value.taint;
                if self.discovering() {
                    self.bind(pat, value, env);
                    return Ok(Judged { holds: true, taint });
                }
                let holds = self.test(pat, &value, env, cond.span, hint)?;
                Ok(Judged { holds, taint })
            }
            ExprKind::Unary { op: UnOp::Not, value } => {
                let hint = Hint { prefer: !hint.prefer, forced: hint.forced.map(|f| !f), ..hint };
                let inner = self.condition(value, env, hint)?;
                Ok(Judged { holds: !inner.holds, ..inner })
            }
            _ => {
                let value = self.eval(cond, env)?;
                if self.discovering() {
                    return Ok(Judged { holds: true, taint: value.taint });
                }
                let holds = self.decide(&value, cond.span, hint)?;
                Ok(Judged { holds, taint: value.taint })
            }
        }
    }

    fn logical(&mut self, op: BinOp, expr: &'a Expr, env: &Env<'a>) -> Eval<'a> {
        let ExprKind::Binary { left, right, .. } = &*expr.kind else { return Ok(Value::unit()) };
        let first = self.eval(left, env)?;
        if self.discovering() {
            return self.eval(right, env);
        }
        // Where both sides hang on the status alone nothing need be decided here: whoever asks, decides.
        let short = |b: bool| b == (op == BinOp::Or);
        match &first.kind {
            Kind::Bool(b) if short(*b) => Ok(first),
            Kind::Bool(_) => {
                let second = self.eval(right, env)?;
                let taint = first.taint;
                Ok(second.tainted(taint))
            }
            Kind::Lifted(_) => {
                let holds = self.decide(&first, left.span, Hint::plain())?;
                if short(holds) {
                    return Ok(Value::bool(holds).tainted(first.taint));
                }
                let second = self.eval(right, env)?;
                Ok(second.tainted(first.taint))
            }
            _ => {
                let second = self.eval(right, env)?;
                match second.kind {
                    Kind::Bool(b) if short(b) => Ok(second.tainted(first.taint)),
                    Kind::Bool(_) => Ok(first.tainted(second.taint)),
                    _ => Ok(self.derived("and or", Why::Other("is computed"), &[&first, &second])),
                }
            }
        }
    }

    fn match_on(&mut self, value: &'a Expr, arms: &'a [Arm], env: &Env<'a>) -> Eval<'a> {
        let value = self.eval(value, env)?;
        if self.discovering() {
            return self.discover_arms(&value, arms, env);
        }
        let leads = self.hits == 0 && arms.iter().any(|a| self.leads_to_goal(a.body.span));
        let matters = arms.iter().any(|a| matters(&a.body));
        let leaves = arms.iter().any(|a| leaves(&a.body));
        for (i, arm) in arms.iter().enumerate() {
            let scope = self.scope(Some(env));
            let last = i + 1 == arms.len();
            let forced =
                leads.then(|| self.leads_to_goal(arm.body.span)).or((last && arm.guard.is_none()).then_some(true));
            let hint = Hint { prefer: !diverges(&arm.body) || last, matters, leaves, forced, turns_after: None };
            if !self.test(&arm.pat, &value, &scope, arm.span, hint)? {
                continue;
            }
            let mut taint = value.taint;
            if let Some(guard) = &arm.guard {
                let judged = self.condition(guard, &scope, Hint { forced: hint.forced.filter(|_| leads), ..hint })?;
                taint = taint.with(judged.taint);
                if !judged.holds {
                    continue;
                }
            }
            let start = Span { end: arm.pat.span.end.max(arm.span.start), ..arm.span };
            self.picked(true, taint, start);
            return self.eval(&arm.body, &scope);
        }
        Ok(self.opaque(Why::Other("matches no arm that could be followed")))
    }

    fn discover_arms(&mut self, value: &Value<'a>, arms: &'a [Arm], env: &Env<'a>) -> Eval<'a> {
        let mut result = None;
        for arm in arms {
            let scope = self.scope(Some(env));
            self.bind(&arm.pat, value.clone(), &scope);
            if let Some(guard) = &arm.guard {
                self.condition(guard, &scope, Hint::plain())?;
            }
            let came = self.in_branch(&arm.body, &scope)?;
            let better = result.as_ref().is_none_or(|r: &Value<'a>| r.as_unknown().is_some());
            if better && !diverges(&arm.body) {
                result = Some(came);
            }
        }
        Ok(result.unwrap_or_else(Value::unit))
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

    fn matches_macro(
        &mut self,
        value: &'a Expr,
        pat: &'a Pat,
        guard: Option<&'a Expr>,
        span: Span,
        env: &Env<'a>,
    ) -> Eval<'a> {
        let value = self.eval(value, env)?;
        if guard.is_none()
            && let Some(answer) = self.test_purely(pat, &value)
        {
            return Ok(answer);
        }
        let scope = self.scope(Some(env));
        let mut taint = value.taint;
        let mut holds = self.test(pat, &value, &scope, span, Hint::plain())?;
        if let (true, Some(guard)) = (holds, guard) {
            let judged = self.condition(guard, &scope, Hint::plain())?;
            taint = taint.with(judged.taint);
            holds = judged.holds;
        }
        Ok(Value::bool(holds).tainted(taint))
    }

    fn select(&mut self, arms: &'a [SelectArm], span: Span, env: &Env<'a>) -> Eval<'a> {
        if self.discovering() {
            let mut result = Value::unit();
            for arm in arms {
                let scope = self.scope(Some(env));
                let value = match &arm.future {
                    Some(future) => {
                        self.branches.push(future.span);
                        let future = self.eval(future, env)?;
                        let value = self.await_value(future, span)?;
                        self.branches.pop();
                        value
                    }
                    None => Value::unit(),
                };
                if let Some(pat) = &arm.pat {
                    self.bind(pat, value, &scope);
                }
                result = self.in_branch(&arm.body, &scope)?;
            }
            return Ok(result);
        }
        // The arm with the call under test wins, else one that waits, else the first.
        let futures: Vec<Option<Value<'a>>> =
            arms.iter().map(|a| a.future.as_ref().map(|f| self.eval(f, env)).transpose()).collect::<Result<_, _>>()?;
        let sleeps = futures.iter().position(|f| f.as_ref().is_some_and(|f| self.is_sleep(f)));
        let leads = arms.iter().position(|a| {
            self.leads_to_goal(a.body.span) || a.future.as_ref().is_some_and(|f| self.leads_to_goal(f.span))
        });
        let chosen = leads.or(sleeps).unwrap_or(0);
        let (Some(arm), Some(future)) = (arms.get(chosen), futures.get(chosen)) else { return Ok(Value::unit()) };
        let scope = self.scope(Some(env));
        let limit =
            sleeps.filter(|s| *s != chosen).and_then(|s| futures.get(s)?.as_ref()).and_then(|f| self.sleep_of(f));
        let value = match (future, limit) {
            (Some(future), Some(limit)) => {
                let raced = self.run_timeout(&limit, future.clone(), span)?;
                match raced.variant() {
                    Some(("Ok", Some(value))) => value.clone(),
                    _ => return self.late_arm(arms, sleeps, env),
                }
            }
            (Some(future), None) => self.await_value(future.clone(), span)?,
            (None, _) => Value::unit(),
        };
        if let Some(pat) = &arm.pat {
            self.bind(pat, value, &scope);
        }
        self.eval(&arm.body, &scope)
    }

    /// The arm of a `select!` whose sleep ended first.
    fn late_arm(&mut self, arms: &'a [SelectArm], late: Option<usize>, env: &Env<'a>) -> Eval<'a> {
        match late.and_then(|i| arms.get(i)) {
            Some(arm) => {
                let scope = self.scope(Some(env));
                self.eval(&arm.body, &scope)
            }
            None => Ok(Value::unit()),
        }
    }

    fn join(&mut self, is_try: bool, futures: &'a [Expr], span: Span, env: &Env<'a>) -> Eval<'a> {
        let mut results = Vec::new();
        for future in futures {
            let future = self.eval(future, env)?;
            let value = self.await_value(future, span)?;
            let value = if is_try { self.settle(value, span)? } else { value };
            match value.variant() {
                Some(("Err", _)) if is_try => return Ok(value),
                Some(("Ok", Some(inner))) if is_try => results.push(inner.clone()),
                _ => results.push(value),
            }
        }
        let all = Value::tuple(results);
        Ok(if is_try { Value::wrap("Ok", all) } else { all })
    }

    /// The end of the program.
    pub(crate) fn panic(&mut self) -> Eval<'a> {
        if self.discovering() {
            return Ok(Value::unit());
        }
        Err(Stop::Panic.into())
    }
}
