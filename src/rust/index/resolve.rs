//! Following a path through scopes, `use` and re-exports.

use super::{ConstIx, Def, Index, Resolved, ScopeIx, TypeIx, TypeKind};
use crate::facts::Dependency;
use crate::rust::ir::{Name, Path, Ty, TyShape};

/// Scopes and `use`s looked at for one path: enough for any real chain of re-exports, and globs that lead in circles end.
const FUEL: u32 = 400;

/// Segments of a path: `use`s that name each other make it longer with every step.
const MAX_SEGMENTS: usize = 16;

/// Aliases and wrappers taken off one type.
const MAX_WRAPPERS: usize = 32;

/// What one path may still cost, and where it has been looked for in vain.
struct Fuel {
    left: u32,
    /// Scopes whose globs have been followed, with what was looked for there: modules that import each other's
    /// everything lead to each other in many ways.
    through: Vec<(ScopeIx, usize, Name)>,
}

impl Fuel {
    fn burn(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// Whether the globs of a scope are followed for the first time.
    fn enter_globs(&mut self, ix: ScopeIx, path: &[Name]) -> bool {
        let Some(first) = path.first() else { return false };
        let was = |(seen, left, name): &(ScopeIx, usize, Name)| *seen == ix && *left == path.len() && name == first;
        let is_new = !self.through.iter().any(was);
        if is_new {
            self.through.push((ix, path.len(), first.clone()));
        }
        is_new
    }
}

/// What a type is, as far as names tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeName {
    /// A struct or enum of the repository.
    Local(TypeIx),
    /// A type from outside, its path written out as far as `use` tells: `reqwest::Client`.
    External(Path),
    /// A type parameter, a tuple, `dyn` or `impl` of something that is not known here.
    Unknown,
}

impl Index<'_> {
    /// What `path` means in `scope`; `self_ty` is what `Self` stands for.
    pub fn resolve(&self, scope: ScopeIx, self_ty: Option<TypeIx>, path: &Path) -> Resolved {
        self.follow(scope, self_ty, &path.segments, &mut Fuel { left: FUEL, through: Vec::new() })
    }

    /// The type that `ty` means once `&`, `Box`, `Arc`, `Rc`, `Pin`, `Mutex` and the like are taken off.
    pub fn resolve_type(&self, scope: ScopeIx, self_ty: Option<TypeIx>, ty: &Ty) -> TypeName {
        let ty = self.unwrapped(scope, ty, MAX_WRAPPERS);
        if !matches!(ty.shape, TyShape::Path | TyShape::Dyn | TyShape::Impl) {
            return TypeName::Unknown;
        }
        match self.resolve(scope, self_ty, &ty.path) {
            Resolved::Type(ix) => TypeName::Local(ix),
            Resolved::External(path) => TypeName::External(path),
            _ => TypeName::Unknown,
        }
    }

    /// `ty` without the smart pointers and locks around it, aliases replaced.
    pub fn unwrapped<'t>(&'t self, scope: ScopeIx, ty: &'t Ty, steps: usize) -> &'t Ty {
        let last = ty.path.segments.last().map(|n| &**n).unwrap_or_default();
        let through = matches!(
            last,
            "Box"
                | "Arc"
                | "Rc"
                | "Pin"
                | "Mutex"
                | "RwLock"
                | "RefCell"
                | "Cell"
                | "OnceCell"
                | "OnceLock"
                | "LazyLock"
                | "Lazy"
                | "LazyCell"
                | "State"
                | "Data"
                | "Extension"
                | "Cow"
                | "ManuallyDrop"
        );
        if steps == 0 {
            return ty;
        }
        match ty.args.as_slice() {
            [inner, ..] if through => self.unwrapped(scope, inner, steps - 1),
            _ => match self.alias(scope, &ty.path) {
                Some((scope, target)) => self.unwrapped(scope, target, steps - 1),
                None => ty,
            },
        }
    }

    /// The associated constant `name` of a type.
    pub fn assoc_const(&self, ty: TypeIx, name: &str) -> Option<ConstIx> {
        self.assoc_consts.get(&(ty, Name::from(name))).copied()
    }

    /// The globs of other crates whose names are seen in a scope.
    pub fn outside_globs(&self, scope: ScopeIx) -> impl Iterator<Item = &Path> {
        let mut here = Some(scope);
        let scopes = std::iter::from_fn(move || {
            let scope = self.scope(here?);
            here = scope.parent.filter(|_| scope.transparent);
            Some(scope)
        });
        let outside = |p: &&Path| p.segments.first().is_some_and(|s| !matches!(&**s, "crate" | "self" | "super"));
        scopes.flat_map(|s| &s.globs).map(|item| &item.path).filter(outside)
    }

    /// A path of another crate, its first segment replaced where Cargo.toml gives the crate a name of its own.
    pub fn true_name(&self, scope: ScopeIx, path: &[Name]) -> Vec<Name> {
        let mut path = path.to_vec();
        if path.len() > 1
            && let Some(first) = path.first_mut()
            && let Some(dependency) = self.dependency(scope, first)
        {
            *first = Name::from(dependency.package.replace('-', "_"));
        }
        path
    }

    /// The dependency that a crate's name in code stands for.
    pub fn dependency(&self, scope: ScopeIx, alias: &str) -> Option<&Dependency> {
        let package = self.packages.get(self.scope(scope).package?)?;
        package.dependencies.iter().find(|d| d.alias == alias)
    }

    /// The dependency on a crate, by the crate's own name in code.
    pub fn dependency_on(&self, scope: ScopeIx, crate_name: &str) -> Option<&Dependency> {
        let package = self.packages.get(self.scope(scope).package?)?;
        package.dependencies.iter().find(|d| d.package.replace('-', "_") == crate_name)
    }

    fn alias(&self, scope: ScopeIx, path: &Path) -> Option<(ScopeIx, &Ty)> {
        let [name] = path.segments.as_slice() else { return None };
        let found = self.scope(scope);
        match found.aliases.get(name) {
            Some(ty) if ty.path != *path => Some((scope, ty)),
            _ if found.transparent => self.alias(found.parent?, path),
            _ => None,
        }
    }

    fn scope(&self, ix: ScopeIx) -> &super::Scope<'_> {
        &self.scopes[ix.0 as usize]
    }

    fn follow(&self, scope: ScopeIx, self_ty: Option<TypeIx>, path: &[Name], fuel: &mut Fuel) -> Resolved {
        let Some((first, rest)) = path.split_first() else { return Resolved::Unknown };
        if fuel.burn().is_none() {
            return Resolved::Unknown;
        }
        let mut module = |start: Option<ScopeIx>, rest: &[Name]| match start {
            Some(start) if !rest.is_empty() => self.inside(start, rest, fuel),
            _ => Resolved::Unknown,
        };
        match &**first {
            "crate" | "$crate" => module(self.scope(scope).root, rest),
            "self" if !rest.is_empty() => module(Some(self.module_of(scope)), rest),
            "super" => module(self.scope(self.module_of(scope)).parent, rest),
            "Self" => match self_ty {
                Some(ty) => self.member(ty, rest),
                None => Resolved::Unknown,
            },
            _ => self.relative(scope, path, fuel),
        }
    }

    /// A path that starts with a plain name: local items first, then what `use` brings, then a crate of that name.
    fn relative(&self, scope: ScopeIx, path: &[Name], fuel: &mut Fuel) -> Resolved {
        let mut here = Some(scope);
        while let Some(ix) = here {
            match self.inside(ix, path, fuel) {
                Resolved::Unknown => {}
                found => return found,
            }
            here = self.scope(ix).parent.filter(|_| self.scope(ix).transparent);
        }
        let Some((first, rest)) = path.split_first() else { return Resolved::Unknown };
        if let Some(root) = self.crate_root(scope, first) {
            return if rest.is_empty() { Resolved::Unknown } else { self.inside(root, rest, fuel) };
        }
        if self.is_dependency(scope, first) || matches!(&**first, "std" | "core" | "alloc") {
            return Resolved::External(Path { segments: path.to_vec() });
        }
        Resolved::Unknown
    }

    /// `path` as seen from within the scope `ix` itself: its items, its child modules, its `use`s.
    fn inside(&self, ix: ScopeIx, path: &[Name], fuel: &mut Fuel) -> Resolved {
        let Some((first, rest)) = path.split_first() else { return Resolved::Unknown };
        if fuel.burn().is_none() {
            return Resolved::Unknown;
        }
        let scope = self.scope(ix);
        if &**first == "super" {
            return scope.parent.map_or(Resolved::Unknown, |parent| self.inside(parent, rest, fuel));
        }
        if let Some(found) = self.defined(ix, first, rest) {
            return found;
        }
        if let Some(&child) = scope.children.get(first)
            && !rest.is_empty()
        {
            let found = self.inside(child, rest, fuel);
            if found != Resolved::Unknown {
                return found;
            }
        }
        if let Some(ty) = scope.aliases.get(first)
            && ty.path.segments.as_slice() != [first.clone()]
        {
            return self.follow(ix, None, &joined(&ty.path.segments, rest), fuel);
        }
        for item in scope.uses.get(first).into_iter().flatten() {
            match self.follow_use(ix, &joined(&item.path.segments, rest), fuel) {
                Resolved::Unknown => {}
                found => return found,
            }
        }
        self.through_globs(ix, path, fuel)
    }

    fn through_globs(&self, ix: ScopeIx, path: &[Name], fuel: &mut Fuel) -> Resolved {
        if !fuel.enter_globs(ix, path) {
            return Resolved::Unknown;
        }
        for item in &self.scope(ix).globs {
            // Only globs of the repository can be followed: what an outside glob brings is not known.
            match self.follow_use(ix, &joined(&item.path.segments, path), fuel) {
                Resolved::Unknown | Resolved::External(_) => {}
                found => return found,
            }
        }
        Resolved::Unknown
    }

    /// A `use` path: starts at the crate's own modules, a sibling, or another crate.
    fn follow_use(&self, scope: ScopeIx, path: &[Name], fuel: &mut Fuel) -> Resolved {
        let Some(first) = path.first() else { return Resolved::Unknown };
        if path.len() > MAX_SEGMENTS {
            return Resolved::Unknown;
        }
        if fuel.burn().is_none() {
            return Resolved::Unknown;
        }
        if matches!(&**first, "crate" | "self" | "super" | "$crate") {
            return self.follow(scope, None, path, fuel);
        }
        let here = self.scope(scope);
        // `use client::load;` after `mod client;`: a child module or an item here, but not the `use` itself.
        if let (Some(&child), Some(rest)) = (here.children.get(first), path.get(1..).filter(|r| !r.is_empty())) {
            let found = self.inside(child, rest, fuel);
            if found != Resolved::Unknown {
                return found;
            }
        }
        if let Some(found) = self.defined(scope, first, path.get(1..).unwrap_or_default()) {
            return found;
        }
        if let Some(root) = self.crate_root(scope, first) {
            return self.inside(root, path.get(1..).unwrap_or_default(), fuel);
        }
        if here.children.contains_key(first) && !self.is_dependency(scope, first) {
            return Resolved::Unknown;
        }
        // `use backon::{self as b}`-like chains: the first segment may itself be brought in by another `use`.
        for item in here.uses.get(first).into_iter().flatten().filter(|u| u.path.segments.first() != Some(first)) {
            let longer = joined(&item.path.segments, path.get(1..).unwrap_or_default());
            match self.follow_use(scope, &longer, fuel) {
                Resolved::Unknown => {}
                found => return found,
            }
        }
        if here.transparent
            && let Some(parent) = here.parent
        {
            return self.follow_use(parent, path, fuel);
        }
        Resolved::External(Path { segments: path.to_vec() })
    }

    /// `first::rest` where `first` is an item of this very scope.
    fn defined(&self, ix: ScopeIx, first: &Name, rest: &[Name]) -> Option<Resolved> {
        let defs = self.scope(ix).names.get(first)?;
        defs.iter().find_map(|def| match (def, rest) {
            (Def::Fn(f), []) => Some(Resolved::Fn(*f)),
            (Def::Const(c), []) => Some(Resolved::Const(*c)),
            (Def::Type(ty), rest) => Some(self.member(*ty, rest)),
            _ => None,
        })
    }

    /// `Type::rest`.
    fn member(&self, ty: TypeIx, rest: &[Name]) -> Resolved {
        let [name] = rest else {
            return if rest.is_empty() { Resolved::Type(ty) } else { Resolved::Unknown };
        };
        if let TypeKind::Enum(variants) = self.ty(ty).kind
            && variants.contains(name)
        {
            return Resolved::Variant(ty, name.clone());
        }
        if let Some(f) = self.method(ty, name) {
            return Resolved::Fn(f);
        }
        self.assoc_const(ty, name).map_or(Resolved::Unknown, Resolved::Const)
    }

    /// The nearest scope that is a module.
    fn module_of(&self, scope: ScopeIx) -> ScopeIx {
        let mut ix = scope;
        while let (true, Some(parent)) = (self.scope(ix).transparent, self.scope(ix).parent) {
            ix = parent;
        }
        ix
    }

    /// The root of the crate that `name` means here: a package of the repository, through a rename if there is one.
    fn crate_root(&self, scope: ScopeIx, name: &Name) -> Option<ScopeIx> {
        match self.scope(scope).package.and_then(|p| self.crates.get(p)) {
            Some(crates) => crates.get(name).copied().flatten(),
            None => match self.roots.get(&**name).map(Vec::as_slice) {
                Some(&[root]) => Some(root),
                _ => None,
            },
        }
    }

    fn is_dependency(&self, scope: ScopeIx, name: &Name) -> bool {
        match self.scope(scope).package.and_then(|p| self.crates.get(p)) {
            Some(crates) => crates.contains_key(name),
            // Without a manifest, a lower-case first segment of a longer path is taken for a crate.
            None => name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
        }
    }
}

fn joined(front: &[Name], back: &[Name]) -> Vec<Name> {
    front.iter().chain(back).cloned().collect()
}
