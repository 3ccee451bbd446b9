//! `select!` and `join!`: several futures at once.
use super::env::Env;
use super::machine::{Eval, Machine};
use super::value::Value;
use crate::rust::ir::{Expr, SelectArm};
use crate::source::Span;

impl<'a> Machine<'a, '_> {
    pub(super) fn select(&mut self, arms: &'a [SelectArm], span: Span, env: &Env<'a>) -> Eval<'a> {
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
    pub(super) fn late_arm(&mut self, arms: &'a [SelectArm], late: Option<usize>, env: &Env<'a>) -> Eval<'a> {
        match late.and_then(|i| arms.get(i)) {
            Some(arm) => {
                let scope = self.scope(Some(env));
                self.eval(&arm.body, &scope)
            }
            None => Ok(Value::unit()),
        }
    }

    pub(super) fn join(&mut self, is_try: bool, futures: &'a [Expr], span: Span, env: &Env<'a>) -> Eval<'a> {
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
}
