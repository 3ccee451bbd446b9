//! Branches: `if`, `match`, and the conditions that pick one.
use super::env::Env;
use super::episode::Pick;
use super::machine::{Eval, Exit, Hint, Machine};
use super::statics::{diverges, leaves, matters};
use super::value::{Kind, Taint, Value, Why};
use crate::rust::ir::{Arm, BinOp, Expr, ExprKind, Lit, Pat, PatKind, UnOp};
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    /// Evaluates a branch of a discovery, and remembers that what is found stands in it.
    pub(crate) fn in_branch(&mut self, body: &'a Expr, env: &Env<'a>) -> Eval<'a> {
        self.branches.push(body.span);
        let result = self.eval(body, env);
        self.branches.pop();
        result
    }

    /// Whether what runs stands in an arm that is taken for some of these texts or variants, and for no other.
    pub(crate) fn stands_in_arm_of(&self, texts: &[&str]) -> bool {
        self.arms.iter().any(|pat| {
            let alternatives = match &pat.kind {
                PatKind::Or(all) => all.as_slice(),
                _ => std::slice::from_ref(*pat),
            };
            alternatives.iter().all(|p| match &p.kind {
                PatKind::Lit(Lit::Str { text, .. }) => texts.contains(&&**text),
                PatKind::Path(path) | PatKind::TupleStruct { path, .. } => {
                    path.segments.last().is_some_and(|last| texts.iter().any(|t| last.eq_ignore_ascii_case(t)))
                }
                _ => false,
            })
        })
    }

    /// Whether the call under test stands in `span`.
    pub(crate) fn leads_to_goal(&self, span: Span) -> bool {
        self.goal.is_some_and(|g| g.branches.contains(&span))
    }

    pub(super) fn branch(
        &mut self,
        cond: &'a Expr,
        then: &'a Expr,
        otherwise: Option<&'a Expr>,
        env: &Env<'a>,
    ) -> Eval<'a> {
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
        let guessed = self.guessed;
        let breadth = self.world.breadth();
        let judged = self.condition(cond, &scope, hint)?;
        let open = self.guessed > guessed && (self.hits == 0 || !hint.leaves);
        self.picked_of(breadth, judged.holds, judged.taint, cond.span);
        match (judged.holds, otherwise) {
            (true, Some(otherwise)) if open => {
                let value = self.eval(then, &scope)?;
                Ok(self.one_of_two(value, cond, true, otherwise, env))
            }
            (true, _) => self.eval(then, &scope),
            (false, Some(otherwise)) if open => {
                let value = self.eval(otherwise, env)?;
                Ok(self.one_of_two(value, cond, false, then, &scope))
            }
            (false, Some(otherwise)) => self.eval(otherwise, env),
            (false, None) => Ok(Value::unit()),
        }
    }

    /// Remembers the test that sends control back to the call: the last one on its failure that came out true.
    pub(crate) fn picked(&mut self, holds: bool, taint: Taint, span: Span) {
        self.picked_of(self.world.breadth(), holds, taint, span);
    }

    /// The same, where so many statuses were possible before the test.
    fn picked_of(&mut self, before: usize, holds: bool, taint: Taint, span: Span) {
        if !taint.has(Taint::FAILURE) || taint.has(Taint::SERVER_WAIT) {
            return;
        }
        let apart = self.world.breadth() < before;
        // Of tests that only say what is not sent back, one that tells statuses apart says more.
        let says_more = |known: Pick| known.weak && apart && !known.apart;
        if holds || self.pick.is_none_or(says_more) {
            self.pick = Some(Pick { span, weak: !holds, apart });
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

    pub(super) fn logical(&mut self, op: BinOp, expr: &'a Expr, env: &Env<'a>) -> Eval<'a> {
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

    pub(super) fn match_on(&mut self, on: &'a Expr, arms: &'a [Arm], env: &Env<'a>) -> Eval<'a> {
        let value = self.eval(on, env)?;
        if self.discovering() {
            return self.discover_arms(on, &value, arms, env);
        }
        let leads = self.hits == 0 && arms.iter().any(|a| self.leads_to_goal(a.body.span));
        let matters = arms.iter().any(|a| matters(&a.body));
        let leaves = arms.iter().any(|a| leaves(&a.body));
        let guessed = self.guessed;
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
            // That there is an answer picks none of its statuses.
            if arm.guard.is_some() || !takes_any_answer(&arm.pat) {
                self.picked(true, taint, start);
            }
            let open = self.guessed > guessed && (self.hits == 0 || !leaves);
            self.arms.push(&arm.pat);
            let came = self.eval(&arm.body, &scope);
            self.arms.pop();
            let came = came?;
            return Ok(if open { self.one_of_arms(came, i, (on, &value), arms, env) } else { came });
        }
        Ok(self.opaque(Why::Other("matches no arm that could be followed")))
    }

    fn discover_arms(&mut self, on: &'a Expr, value: &Value<'a>, arms: &'a [Arm], env: &Env<'a>) -> Eval<'a> {
        let mut result = None;
        let mut all = Vec::new();
        for arm in arms {
            let scope = self.scope(Some(env));
            self.bind(&arm.pat, value.clone(), &scope);
            if let Some(guard) = &arm.guard {
                self.condition(guard, &scope, Hint::plain())?;
            }
            self.arms.push(&arm.pat);
            let came = self.in_branch(&arm.body, &scope);
            self.arms.pop();
            let came = came?;
            if diverges(&arm.body) {
                continue;
            }
            all.push((&arm.pat, came.clone()));
            if result.as_ref().is_none_or(|r: &Value<'a>| r.as_unknown().is_some()) {
                result = Some(came);
            }
        }
        let result = result.unwrap_or_else(Value::unit);
        Ok(if value.as_unknown().is_some() { self.one_of_all(result, all, on) } else { result })
    }

    pub(super) fn matches_macro(
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
}

/// `Ok(answer)`
fn takes_any_answer(pat: &Pat) -> bool {
    let PatKind::TupleStruct { path, parts } = &pat.kind else { return false };
    let any = |part: &Pat| matches!(part.kind, PatKind::Wild | PatKind::Bind { sub: None, .. });
    path.segments.last().is_some_and(|n| &**n == "Ok") && parts.iter().all(any)
}

/// What a condition came to, and what it hung on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) holds: bool,
    pub(crate) taint: Taint,
}
