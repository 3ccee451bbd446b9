//! Variables of the environment that stand for settings of a program.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::facts::{EnvFact, Facts};
use crate::model::Layer;
use crate::syntax::{Entry, Node, Scalar, Value};

/// The environment of a component, or the one that an image brings.
pub(super) struct Environment<'f> {
    /// The component's name, or the folder of the Dockerfile.
    pub of: &'f str,
    variables: &'f [EnvFact],
}

impl Environment<'_> {
    /// A variable as if it stood in a file of settings. Programs differ in whether case counts; nobody sets both.
    pub(super) fn get(&self, name: &str) -> Option<Entry> {
        let variable = self.variables.iter().find(|v| v.name.eq_ignore_ascii_case(name))?;
        let scalar = Scalar { text: variable.value.trim().into(), plain: true, verbatim: None };
        let value = Arc::new(Node::new(variable.span, Value::Scalar(scalar)));
        Some(Entry { key: variable.name.as_str().into(), key_span: variable.span, value })
    }
}

/// Adds the layers that `read` makes of each environment. A variable that several components share makes one: whose it
/// is follows from its place.
pub(super) fn add_layers(facts: &mut Facts, read: impl Fn(&Environment<'_>) -> Option<Layer>) {
    let of_components = facts.components.iter().map(|c| Environment { of: &c.name, variables: &c.env });
    let of_images = facts.dockerfiles.iter().map(|d| Environment { of: &d.folder, variables: &d.env });
    let mut places = BTreeSet::new();
    let all = of_components.chain(of_images).filter_map(|environment| read(&environment));
    let new: Vec<Layer> = all.filter(|layer| places.insert(layer.place)).collect();
    facts.layers.extend(new);
}
