//! Variables in scope. Closures share the scopes that they see, as closures that borrow do.

use std::cell::RefCell;
use std::rc::Rc;

use super::value::Value;
use crate::rust::ir::Name;

/// A scope and, through its parents, all that is seen from it: what is brought in after a closure or an inner scope
/// was made is not seen from there.
#[derive(Clone)]
pub(crate) struct Env<'a> {
    scope: Rc<Scope<'a>>,
    /// How many variables of the scope are seen; `None` = all.
    seen: Option<usize>,
}

struct Scope<'a> {
    vars: RefCell<Vec<(Name, Value<'a>)>>,
    parent: Option<Env<'a>>,
}

impl std::fmt::Debug for Env<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A closure in a scope sees that scope: printing the variables would not end.
        f.write_str("Env")
    }
}

impl<'a> Env<'a> {
    /// A scope that sees nothing else.
    pub(crate) fn root() -> Self {
        Self { scope: Rc::new(Scope { vars: RefCell::default(), parent: None }), seen: None }
    }

    /// A scope inside of this one.
    pub(crate) fn inner(&self) -> Self {
        let scope = Scope { vars: RefCell::default(), parent: Some(self.now()) };
        Self { scope: Rc::new(scope), seen: None }
    }

    /// What is seen now, whatever is brought in later.
    pub(crate) fn now(&self) -> Self {
        let seen = self.seen.unwrap_or_else(|| self.scope.vars.borrow().len());
        Self { scope: self.scope.clone(), seen: Some(seen) }
    }

    /// Brings in a variable; an earlier one of the same name is hidden.
    pub(crate) fn bind(&self, name: Name, value: Value<'a>) {
        self.scope.vars.borrow_mut().push((name, value));
    }

    /// The value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        let mut scope = Some(self);
        while let Some(env) = scope {
            let vars = env.scope.vars.borrow();
            let seen = env.seen.unwrap_or(vars.len());
            if let Some((_, value)) = vars.iter().take(seen).rev().find(|(n, _)| &**n == name) {
                return Some(value.clone());
            }
            scope = env.scope.parent.as_ref();
        }
        None
    }

    /// Gives a variable another value. Whether there is such a variable.
    pub(crate) fn set(&self, name: &str, value: Value<'a>) -> bool {
        let mut scope = Some(self);
        while let Some(env) = scope {
            let mut vars = env.scope.vars.borrow_mut();
            let seen = env.seen.unwrap_or(vars.len());
            if let Some((_, old)) = vars.iter_mut().take(seen).rev().find(|(n, _)| &**n == name) {
                *old = value;
                return true;
            }
            scope = env.scope.parent.as_ref();
        }
        false
    }

    /// Forgets the variables of this scope: a closure in them may hold the scope itself.
    pub(crate) fn clear(&self) {
        let dropped = std::mem::take(&mut *self.scope.vars.borrow_mut());
        drop(dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_does_not_see_the_variable_that_it_is_bound_to() {
        let outer = Env::root();
        outer.bind("load".into(), Value::int(1));
        let closure = outer.now();
        outer.bind("load".into(), Value::int(2));
        assert_eq!(closure.get("load").and_then(|v| v.as_int()), Some(1));
        assert_eq!(outer.get("load").and_then(|v| v.as_int()), Some(2));
        assert!(closure.set("load", Value::int(3)));
        assert_eq!(outer.get("load").and_then(|v| v.as_int()), Some(2));
        assert_eq!(closure.get("load").and_then(|v| v.as_int()), Some(3));
    }
}
