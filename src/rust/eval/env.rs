//! Variables in scope. Closures share the scopes that they see, as closures that borrow do.

use std::cell::RefCell;
use std::rc::Rc;

use super::value::Value;
use crate::rust::ir::Name;

/// A scope and, through its parents, all that is seen from it.
#[derive(Clone)]
pub(crate) struct Env<'a>(Rc<Scope<'a>>);

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
        Self(Rc::new(Scope { vars: RefCell::default(), parent: None }))
    }

    /// A scope inside of this one.
    pub(crate) fn inner(&self) -> Self {
        Self(Rc::new(Scope { vars: RefCell::default(), parent: Some(self.clone()) }))
    }

    /// Brings in a variable; an earlier one of the same name is hidden.
    pub(crate) fn bind(&self, name: Name, value: Value<'a>) {
        self.0.vars.borrow_mut().push((name, value));
    }

    /// The value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        let mut scope = Some(self);
        while let Some(env) = scope {
            if let Some((_, value)) = env.0.vars.borrow().iter().rev().find(|(n, _)| &**n == name) {
                return Some(value.clone());
            }
            scope = env.0.parent.as_ref();
        }
        None
    }

    /// Gives a variable another value. Whether there is such a variable.
    pub(crate) fn set(&self, name: &str, value: Value<'a>) -> bool {
        let mut scope = Some(self);
        while let Some(env) = scope {
            if let Some((_, old)) = env.0.vars.borrow_mut().iter_mut().rev().find(|(n, _)| &**n == name) {
                *old = value;
                return true;
            }
            scope = env.0.parent.as_ref();
        }
        false
    }

    /// Forgets the variables of this scope: a closure in them may hold the scope itself.
    pub(crate) fn clear(&self) {
        let dropped = std::mem::take(&mut *self.0.vars.borrow_mut());
        drop(dropped);
    }
}
