//! Settings structs: a chain of fields is looked up as a chain of keys in the settings files of the package.

use std::rc::Rc;

use super::machine::Machine;
use super::value::{Keys, Kind, Origin, Source, Typed, Unknown, Value, Why};
use crate::rust::index::{TypeIx, TypeKind, TypeName};
use crate::rust::ir::{Struct, Ty};

/// How many structs up a settings struct is looked for in others.
const UP: usize = 6;

impl<'a> Machine<'a, '_> {
    /// A field of a settings struct that is read from a file: its value there, or something not known that remembers
    /// the keys down to here. `None` if it is no settings struct.
    pub(crate) fn setting(
        &mut self,
        base: &Value<'a>,
        ty: TypeIx,
        field: &'a str,
        typed: Typed<'a>,
        id: u64,
    ) -> Option<Value<'a>> {
        let TypeKind::Struct(item) = self.shared.index.ty(ty).kind else { return None };
        if !is_deserialized(item) {
            return None;
        }
        let keys = match base.as_unknown().and_then(|u| u.keys.clone()) {
            Some(keys) => {
                let fields = keys.fields.iter().copied().chain([field]).collect();
                Rc::new(Keys { root: keys.root, fields })
            }
            None => Rc::new(Keys { root: ty, fields: vec![field] }),
        };
        if let TypeName::Local(_) = self.type_name(typed) {
            return Some(open(id, Why::Field(field), typed, keys));
        }
        match self.look_up_once(&keys, ty) {
            Some(value) => Some(value),
            None => {
                let default = self.serde_default(item, field, ty).or_else(|| self.attribute_default(item, field, ty));
                default.or_else(|| Some(open(id, Why::Field(field), typed, keys)))
            }
        }
    }

    fn look_up_once(&self, keys: &Rc<Keys<'a>>, owner: TypeIx) -> Option<Value<'a>> {
        let key = (owner, keys.root, keys.fields.clone());
        if let Some(known) = self.shared.looked_up.borrow().get(&key) {
            return known.clone();
        }
        let found = self.look_up(keys, owner);
        self.shared.looked_up.borrow_mut().insert(key, found.clone());
        found
    }

    fn look_up(&self, keys: &Keys<'a>, owner: TypeIx) -> Option<Value<'a>> {
        let package = self.shared.index.ty(owner).package;
        let folder = package.and_then(|p| self.shared.index.packages().get(p)).map_or("", |p| p.folder.as_str());
        let inside =
            |path: &str| folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        if !self.shared.settings.iter().any(|s| inside(&s.path)) {
            return None;
        }
        let mut chains = vec![keys.fields.iter().map(|f| f.to_string()).collect::<Vec<_>>()];
        let mut longest = chains.clone();
        let mut roots = vec![(keys.root, chains.remove(0))];
        for _ in 0..UP {
            roots = roots
                .iter()
                .flat_map(|(root, chain)| {
                    self.holders(*root).into_iter().map(|(holder, name)| {
                        (holder, [name].into_iter().chain(chain.iter().cloned()).collect::<Vec<_>>())
                    })
                })
                .take(64)
                .collect();
            longest.extend(roots.iter().map(|(_, c)| c.clone()));
        }
        longest.sort_by_key(|c| std::cmp::Reverse(c.len()));
        for chain in longest {
            let mut found = self
                .shared
                .settings
                .iter()
                .filter(|s| inside(&s.path))
                .flat_map(|s| &s.values)
                .filter(|(key, ..)| ends_with(key, &chain));
            if let (Some((key, text, span)), None) = (found.next(), found.next()) {
                let origin = Origin { span: *span, from: Source::Setting(key), via: None };
                let value = match text.trim().parse::<i128>() {
                    Ok(n) => Value::int(n),
                    Err(_) => match text.trim().parse::<f64>() {
                        Ok(x) => Value::new(Kind::Float(x)),
                        Err(_) if text == "true" || text == "false" => Value::bool(text == "true"),
                        Err(_) => Value::text(text.clone()),
                    },
                };
                return Some(value.at(Some(origin)));
            }
        }
        None
    }

    /// The settings structs that hold one of this type, each with the field.
    fn holders(&self, ty: TypeIx) -> Vec<(TypeIx, String)> {
        let index = self.shared.index;
        let package = index.ty(ty).package;
        let mut out = Vec::new();
        for holder in index.types() {
            let info = index.ty(holder);
            let TypeKind::Struct(item) = info.kind else { continue };
            if info.package != package || !is_deserialized(item) {
                continue;
            }
            for field in &item.fields {
                if mentions(&field.ty, index.ty(ty).name)
                    && index.resolve_type(info.scope, Some(holder), &field.ty) == TypeName::Local(ty)
                {
                    out.push((holder, field.name.to_string()));
                }
            }
        }
        out
    }

    /// `#[arg(default_value_t = 3)]`, `#[arg(default_value = "3")]`, `#[envconfig(default = "3")]`,
    /// `#[builder(default = 3)]`, `#[default = 3]`: what holds where nothing is set at run time.
    fn attribute_default(&mut self, item: &'a Struct, field: &str, ty: TypeIx) -> Option<Value<'a>> {
        let field = item.fields.iter().find(|f| &*f.name == field)?;
        let text = field.attributes.iter().find_map(|(path, text)| match &**path.segments.last()? {
            "arg" | "clap" | "structopt" => {
                value_of(text, "default_value_t").or_else(|| value_of(text, "default_value"))
            }
            "envconfig" | "builder" => value_of(text, "default"),
            "default" => Some(text.trim()),
            _ => None,
        })?;
        let plain = text.trim_matches('"').trim();
        let plain = plain.strip_prefix("Some(").and_then(|p| p.strip_suffix(')')).unwrap_or(plain).trim();
        let value = match (plain.parse::<i128>(), plain.parse::<f64>()) {
            (Ok(n), _) => Value::int(n),
            (_, Ok(x)) => Value::new(Kind::Float(x)),
            _ if text.starts_with('"') => Value::text(plain),
            _ => {
                let segments = plain.split("::").map(crate::rust::ir::Name::from).collect();
                let path = crate::rust::ir::Path { segments };
                let scope = self.shared.index.ty(ty).scope;
                match self.shared.index.resolve(scope, Some(ty), &path) {
                    crate::rust::index::Resolved::Const(ix) => self.constant(ix),
                    _ => return None,
                }
            }
        };
        Some(value.at(Some(Origin { span: field.span, from: Source::Fallback, via: None })))
    }

    /// `#[serde(default = "function")]`
    fn serde_default(&mut self, item: &'a Struct, field: &str, ty: TypeIx) -> Option<Value<'a>> {
        let field = item.fields.iter().find(|f| &*f.name == field)?;
        let (_, text) = field.attributes.iter().find(|(p, _)| p.segments.last().is_some_and(|s| &**s == "serde"))?;
        let (_, rest) = text.split_once("default")?;
        let name = rest.split('"').nth(1)?;
        let segments = name.split("::").map(crate::rust::ir::Name::from).collect();
        let scope = self.shared.index.ty(ty).scope;
        let path = crate::rust::ir::Path { segments };
        let crate::rust::index::Resolved::Fn(function) = self.shared.index.resolve(scope, Some(ty), &path) else {
            return None;
        };
        let value = self.call_fn(function, Vec::new(), field.span).ok()?;
        let origin = value.origin.map(|o| Origin { from: Source::Fallback, ..o });
        Some(value.at(origin))
    }
}

/// The value behind `key =` in the text of an attribute: up to the next comma that stands in no bracket or string.
fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, rest) = text
        .match_indices(key)
        .map(|(at, _)| text.split_at(at))
        .find(|(before, _)| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))?;
    let rest = rest.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim_start();
    let (mut depth, mut quoted) = (0u32, false);
    let end = rest.find(|c: char| {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && !quoted && depth == 0
    });
    Some(rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest).trim())
}

/// Whether a type or one of its arguments has this name: resolving every field of a repository would take too long.
fn mentions(ty: &Ty, name: &str) -> bool {
    ty.path.segments.last().is_some_and(|s| &**s == name) || ty.args.iter().any(|a| mentions(a, name))
}

fn is_deserialized(item: &Struct) -> bool {
    item.derives.iter().any(|d| {
        matches!(
            &**d,
            "Deserialize" | "Parser" | "Args" | "Envconfig" | "StructOpt" | "Builder" | "TypedBuilder" | "SmartDefault"
        )
    })
}

fn open<'a>(id: u64, why: Why<'a>, typed: Typed<'a>, keys: Rc<Keys<'a>>) -> Value<'a> {
    let unknown = Unknown { id, why, ty: Some(typed), succeeded: false, call: None, keys: Some(keys) };
    Value::new(Kind::Unknown(Rc::new(unknown)))
}

/// Whether a key chain ends with these fields; settings write `_`, `-` and capitals as they like.
fn ends_with(key: &str, chain: &[String]) -> bool {
    let mut parts = key.rsplit('.');
    chain.iter().rev().all(|field| parts.next().is_some_and(|part| plain(part).eq(plain(field))))
}

fn plain(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_stand_in_attributes() {
        let of = |text| value_of(text, "default_value_t").or_else(|| value_of(text, "default_value"));
        assert_eq!(of("long, default_value_t = 3, env = \"TRIES\""), Some("3"));
        assert_eq!(of("default_value = \"3\""), Some("\"3\""));
        assert_eq!(of("default_value_t = Self::of(1, 2), long"), Some("Self::of(1, 2)"));
        assert_eq!(of("long, value_name = \"no default_value\""), None);
        assert_eq!(of("long, env = \"TRIES\""), None);
    }

    #[test]
    fn keys_are_written_in_many_ways() {
        let chain = |s: &str| s.split('.').map(str::to_owned).collect::<Vec<_>>();
        assert!(ends_with("upstream.tax.max_retries", &chain("tax.max_retries")));
        assert!(ends_with("upstream.tax.max-retries", &chain("tax.max_retries")));
        assert!(ends_with("maxRetries", &chain("max_retries")));
        assert!(!ends_with("upstream.vat.max_retries", &chain("tax.max_retries")));
    }
}
