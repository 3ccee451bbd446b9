//! Making the index: scopes from files, items into scopes.

use std::collections::BTreeMap;

use super::{ConstInfo, Def, FnInfo, FnIx, Index, Scope, ScopeIx, TypeInfo, TypeIx, TypeKind};
use crate::config::own::HelperConfig;
use crate::facts::PackageFact;
use crate::rust::index::{ConstIx, Resolved};
use crate::rust::ir::{self, Item, Module, Name};
use crate::rust::walk;

/// An impl block that waits until all types are known.
struct PendingImpl<'a> {
    block: &'a ir::Impl,
    scope: ScopeIx,
}

struct Builder<'a> {
    index: Index<'a>,
    pending: Vec<PendingImpl<'a>>,
}

impl<'a> Index<'a> {
    /// Indexes all functions, types and constants of `modules`.
    pub fn new(packages: &'a [PackageFact], modules: &'a [Module]) -> Self {
        let mut builder = Builder { index: Index { packages, ..Index::default() }, pending: Vec::new() };
        let placed = place_files(packages, modules);
        for (module, place) in modules.iter().zip(&placed) {
            let scope = builder.scope_of_file(place);
            builder.items(&module.items, scope);
        }
        builder.crates();
        builder.impls();
        builder.index
    }

    /// With what the configuration says of functions that retry.
    pub fn with_helpers(self, helpers: &'a [HelperConfig]) -> Self {
        Self { helpers, ..self }
    }
}

/// Empties the files that only tests compile by how another file declares them: `#[cfg(test)] mod server;`.
pub fn leave_out_test_files(packages: &[PackageFact], modules: &mut [Module]) {
    let placed = place_files(packages, modules);
    let mut declared = BTreeMap::new();
    for (module, place) in modules.iter().zip(&placed) {
        declarations(&module.items, &place.crate_key, &place.modules, &mut declared);
    }
    if !declared.values().any(|only| *only) {
        return;
    }
    let only = |place: &Place| {
        let mut key = (place.crate_key.clone(), place.modules.clone());
        loop {
            if declared.get(&key).is_some_and(|only| *only) {
                return true;
            }
            if key.1.pop().is_none() {
                return false;
            }
        }
    };
    for (module, _) in modules.iter_mut().zip(&placed).filter(|(_, place)| only(place)) {
        module.items.clear();
        module.tests_left_out = true;
    }
}

/// The crate and the module path of each file that is declared, and whether only for tests.
type Declared = BTreeMap<(String, Vec<Name>), bool>;

fn declarations(items: &[Item], crate_key: &str, above: &[Name], into: &mut Declared) {
    for item in items {
        match item {
            Item::ModFile { name, test_only, .. } => {
                let path = above.iter().chain([name]).cloned().collect();
                // Declared for both, it is compiled for both.
                *into.entry((crate_key.to_owned(), path)).or_insert(true) &= *test_only;
            }
            Item::Mod { name, items } => {
                let path: Vec<Name> = above.iter().chain([name]).cloned().collect();
                declarations(items, crate_key, &path, into);
            }
            _ => {}
        }
    }
}

/// Where a file stands: the crate's root and the module path below it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    package: Option<usize>,
    /// The name by which the crate is keyed here: the package's folder, or a binary's own file.
    crate_key: String,
    /// The names that code uses for the crate; empty for extra binaries.
    crate_name: Option<String>,
    modules: Vec<Name>,
}

fn place_files(packages: &[PackageFact], modules: &[Module]) -> Vec<Place> {
    let overrides = path_overrides(modules);
    modules
        .iter()
        .map(|module| {
            let package = owner(packages, &module.path);
            let folder = package.and_then(|p| packages.get(p)).map(|p| p.folder.as_str());
            let mut place = place_of(&module.path, folder);
            place.package = package;
            place.crate_name =
                place.crate_name.and(package.and_then(|p| packages.get(p))).map(|p| p.name.replace('-', "_"));
            if let Some(modules) = overrides.get(&*module.path) {
                place.modules.clone_from(modules);
            }
            place
        })
        .collect()
}

/// The innermost package whose folder holds `path`.
fn owner(packages: &[PackageFact], path: &str) -> Option<usize> {
    let holds = |folder: &str| folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    (0..packages.len())
        .filter(|&i| packages.get(i).is_some_and(|p| holds(&p.folder)))
        .max_by_key(|&i| packages.get(i).map_or(0, |p| p.folder.len()))
}

fn place_of(path: &str, folder: Option<&str>) -> Place {
    let key = folder.map_or_else(|| root_folder(path), str::to_owned);
    let inside = path.strip_prefix(&key).unwrap_or(path).trim_start_matches('/');
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut parts: Vec<&str> = inside.split('/').collect();
    let mut place = Place { package: None, crate_key: key, crate_name: Some(String::new()), modules: Vec::new() };
    if parts.first() == Some(&"src") {
        parts.remove(0);
        if parts.first() == Some(&"bin") && parts.len() > 1 {
            let binary = parts.get(1).copied().unwrap_or_default();
            place.crate_key = format!("{}/src/bin/{binary}", place.crate_key);
            place.crate_name = None;
            parts.drain(..2);
        }
    } else if matches!(parts.first(), Some(&("tests" | "benches" | "examples"))) {
        place.crate_key =
            format!("{}/{}", place.crate_key, parts.iter().take(2).copied().collect::<Vec<_>>().join("/"));
        place.crate_name = None;
        parts.drain(..parts.len().min(2));
    } else if parts.len() == 1 {
        // build.rs, or a lone file: a crate of its own unless it is a root.
        if !matches!(parts.first(), Some(&("lib" | "main" | "mod"))) {
            place.crate_key = path.to_owned();
            place.crate_name = None;
            parts.clear();
        }
    }
    match parts.as_slice() {
        ["main" | "lib"] => parts.clear(),
        [.., "mod"] => {
            parts.pop();
        }
        _ => {}
    }
    place.modules = parts.into_iter().map(Name::from).collect();
    place
}

/// Without a Cargo.toml: the folder above the nearest `src`, else the file's own folder.
fn root_folder(path: &str) -> String {
    let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
    match folder.rfind("/src").filter(|&i| folder.get(i + 4..).is_some_and(|r| r.is_empty() || r.starts_with('/'))) {
        Some(at) => folder.get(..at).unwrap_or_default().to_owned(),
        None if folder == "src" || folder.starts_with("src/") => String::new(),
        None => folder.to_owned(),
    }
}

/// Module paths of the files that a `#[path = ".."] mod name;` names.
fn path_overrides(modules: &[Module]) -> BTreeMap<String, Vec<Name>> {
    let mut out = BTreeMap::new();
    for module in modules {
        let (folder, _) = module.path.rsplit_once('/').unwrap_or(("", &module.path));
        for item in &module.items {
            if let Item::ModFile { name, path: Some(path), .. } = item {
                let mut modules = place_of(&module.path, None).modules;
                modules.push(name.clone());
                out.insert(normalize(folder, path), modules);
            }
        }
    }
    out
}

fn normalize(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.join("/")
}

impl<'a> Builder<'a> {
    fn scope_of_file(&mut self, place: &Place) -> ScopeIx {
        let root = self.root(place);
        place.modules.iter().fold(root, |scope, name| self.child(scope, name))
    }

    fn root(&mut self, place: &Place) -> ScopeIx {
        // Keys of crates hold a slash or a dot, or stand with a NUL before them, so that no crate name meets them.
        let key = format!("\0{}", place.crate_key);
        if let Some(&[scope]) = self.index.roots.get(&key).map(Vec::as_slice) {
            return scope;
        }
        let scope = self.new_scope(Scope { package: place.package, ..Scope::default() });
        self.scope_mut(scope).root = Some(scope);
        self.index.roots.insert(key, vec![scope]);
        if let Some(name) = &place.crate_name {
            self.index.roots.entry(name.clone()).or_default().push(scope);
            self.scope_mut(scope).path = vec![Name::from(name.as_str())];
        } else {
            let last = place.crate_key.rsplit('/').next().unwrap_or_default();
            // Code without a package is not called as its folder, which may get another name any day.
            let is_folder = place.package.is_none() && !last.ends_with(".rs");
            let name = if is_folder { "crate" } else { last.trim_end_matches(".rs") };
            self.scope_mut(scope).path = vec![Name::from(name)];
        }
        scope
    }

    fn child(&mut self, parent: ScopeIx, name: &Name) -> ScopeIx {
        if let Some(&scope) = self.scope_mut(parent).children.get(name) {
            return scope;
        }
        let above = self.scope_mut(parent);
        let (root, package) = (above.root, above.package);
        let path = above.path.iter().cloned().chain([name.clone()]).collect();
        let scope = self.new_scope(Scope { parent: Some(parent), root, package, path, ..Scope::default() });
        self.scope_mut(parent).children.insert(name.clone(), scope);
        scope
    }

    fn new_scope(&mut self, scope: Scope<'a>) -> ScopeIx {
        self.index.scopes.push(scope);
        ScopeIx(self.index.scopes.len() as u32 - 1)
    }

    fn scope_mut(&mut self, ix: ScopeIx) -> &mut Scope<'a> {
        &mut self.index.scopes[ix.0 as usize]
    }

    fn define(&mut self, scope: ScopeIx, name: &Name, def: Def) {
        self.scope_mut(scope).names.entry(name.clone()).or_default().push(def);
    }

    fn items(&mut self, items: &'a [Item], scope: ScopeIx) {
        for item in items {
            self.item(item, scope);
        }
    }

    fn item(&mut self, item: &'a Item, scope: ScopeIx) {
        match item {
            Item::Fn(function) => {
                let ix = self.function(function, scope, None, None);
                self.define(scope, &function.name, Def::Fn(ix));
            }
            Item::Impl(block) => self.pending.push(PendingImpl { block, scope }),
            Item::Const(constant) => {
                let ix = self.constant(constant, scope, None);
                self.define(scope, &constant.name, Def::Const(ix));
            }
            Item::Struct(item) => self.ty(&item.name, TypeKind::Struct(item), scope),
            Item::Enum { name, variants } => self.ty(name, TypeKind::Enum(variants), scope),
            Item::Alias { name, ty } => {
                self.scope_mut(scope).aliases.insert(name.clone(), ty);
            }
            Item::Use(item) if &*item.alias == "*" => self.scope_mut(scope).globs.push(item),
            Item::Use(item) => self.scope_mut(scope).uses.entry(item.alias.clone()).or_default().push(item),
            Item::Mod { name, items } => {
                let inner = self.child(scope, name);
                self.items(items, inner);
            }
            Item::ModFile { .. } => {}
        }
    }

    fn ty(&mut self, name: &'a Name, kind: TypeKind<'a>, scope: ScopeIx) {
        let package = self.scope_mut(scope).package;
        self.index.types.push(TypeInfo { name, kind, scope, package });
        let ix = TypeIx(self.index.types.len() as u32 - 1);
        self.define(scope, name, Def::Type(ix));
    }

    fn constant(&mut self, constant: &'a ir::Const, scope: ScopeIx, of_type: Option<TypeIx>) -> ConstIx {
        let package = self.scope_mut(scope).package;
        self.index.constants.push(ConstInfo { constant, scope, of_type, package });
        ConstIx(self.index.constants.len() as u32 - 1)
    }

    fn function(
        &mut self,
        function: &'a ir::Function,
        scope: ScopeIx,
        of_type: Option<(Option<TypeIx>, &Name)>,
        of_trait: Option<&Name>,
    ) -> FnIx {
        let package = self.scope_mut(scope).package;
        let name = match of_type {
            Some((_, ty)) => format!("{ty}::{}", function.name),
            None => function.name.to_string(),
        };
        let modules = self.scope_mut(scope).path.join("::");
        let path = if modules.is_empty() { name.clone() } else { format!("{modules}::{name}") };
        let inner = self.body_scope(function, scope);
        self.index.functions.push(FnInfo {
            function,
            scope: inner,
            package,
            of_type: of_type.and_then(|(ty, _)| ty),
            of_trait: of_trait.cloned(),
            name,
            path,
        });
        let ix = FnIx(self.index.functions.len() as u32 - 1);
        self.index.by_name.entry(function.name.clone()).or_default().push(ix);
        ix
    }

    /// The scope of a body: the module's own, unless the body holds items.
    fn body_scope(&mut self, function: &'a ir::Function, scope: ScopeIx) -> ScopeIx {
        let inside: Vec<&'a Item> = walk::items_inside(&function.body).collect();
        if inside.is_empty() {
            return scope;
        }
        let above = self.scope_mut(scope);
        let (root, package) = (above.root, above.package);
        let path = above.path.iter().cloned().chain([function.name.clone()]).collect();
        let inner =
            self.new_scope(Scope { parent: Some(scope), transparent: true, root, package, path, ..Scope::default() });
        for item in inside {
            self.item(item, inner);
        }
        inner
    }

    /// What the names of crates mean in each package: its own, its dependencies with their renames.
    fn crates(&mut self) {
        let index = &self.index;
        let root = |package: &str| match index.roots.get(&package.replace('-', "_")).map(Vec::as_slice) {
            Some(&[root]) => Some(root),
            _ => None,
        };
        let crates = index.packages.iter().map(|package| {
            let own = (Name::from(package.name.replace('-', "_")), root(&package.name));
            let dependencies = package.dependencies.iter().map(|d| (Name::from(&*d.alias), root(&d.package)));
            std::iter::once(own).chain(dependencies).collect()
        });
        self.index.crates = crates.collect();
    }

    fn impls(&mut self) {
        // Functions inside of methods may hold impl blocks themselves: go on until none is left.
        while !self.pending.is_empty() {
            for PendingImpl { block, scope } in std::mem::take(&mut self.pending) {
                self.impl_block(block, scope);
            }
        }
    }

    fn impl_block(&mut self, block: &'a ir::Impl, scope: ScopeIx) {
        let short = Name::from("?");
        let ty_name = block.ty.path.segments.last().unwrap_or(&short);
        let trait_name =
            if block.is_trait { Some(ty_name) } else { block.of_trait.as_ref().and_then(|p| p.segments.last()) };
        let ty = match (block.is_trait, self.index.resolve(scope, None, &block.ty.path)) {
            (false, Resolved::Type(ty)) => Some(ty),
            _ => None,
        };
        for function in &block.functions {
            let ix = self.function(function, scope, Some((ty, ty_name)), trait_name);
            if let Some(ty) = ty {
                let all = self.index.methods.entry((ty, function.name.clone())).or_default();
                // A type's own method hides a trait's.
                if block.of_trait.is_none() { all.insert(0, ix) } else { all.push(ix) }
            }
            if let Some(name) = trait_name {
                self.index.trait_methods.entry((name.clone(), function.name.clone())).or_default().push(ix);
            }
        }
        if let (Some(ty), Some(name)) = (ty, trait_name) {
            self.index.traits_of.entry(name.clone()).or_default().push(ty);
        }
        for constant in &block.consts {
            let ix = self.constant(constant, scope, ty);
            if let Some(ty) = ty {
                self.index.assoc_consts.insert((ty, constant.name.clone()), ix);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, SourceFile};

    fn modules_of(path: &str, folder: Option<&str>) -> String {
        place_of(path, folder).modules.join("::")
    }

    #[test]
    fn files_stand_where_their_paths_put_them() {
        assert_eq!(modules_of("svc/src/main.rs", Some("svc")), "");
        assert_eq!(modules_of("svc/src/a.rs", Some("svc")), "a");
        assert_eq!(modules_of("svc/src/a/mod.rs", Some("svc")), "a");
        assert_eq!(modules_of("svc/src/a/b.rs", Some("svc")), "a::b");
        assert_eq!(modules_of("src/a/b.rs", Some("")), "a::b");
        assert_eq!(modules_of("src/bin/tool.rs", Some("")), "");
        assert_eq!(modules_of("src/bin/tool/main.rs", Some("")), "");
        assert_eq!(modules_of("src/bin/tool/x.rs", Some("")), "x");
        assert_eq!(modules_of("deep/src/x.rs", None), "x");
        assert_eq!(place_of("src/bin/tool.rs", Some("")).crate_name, None);
    }

    #[test]
    fn files_that_another_declares_for_tests_alone_are_left_out() {
        let lower = |(path, text): (&str, &str)| {
            let file = SourceFile { id: FileId(0), path: path.into(), text: text.into() };
            crate::rust::lower::lower(&file, false).expect("it can be read")
        };
        let mut modules: Vec<Module> = [
            ("src/lib.rs", "mod mail; #[cfg(test)] mod server; #[cfg(any(test, feature = \"x\"))] mod either;"),
            ("src/mail/mod.rs", "#[cfg(all(test, unix))] pub mod testing; mod inner { #[cfg(test)] mod deep; }"),
            ("src/mail/testing.rs", "fn a() {}"),
            ("src/mail/inner/deep.rs", "fn b() {}"),
            ("src/mail/inner.rs", "fn c() {}"),
            ("src/server/mod.rs", "fn d() {}"),
            ("src/server/below.rs", "fn e() {}"),
            ("src/either.rs", "fn f() {}"),
            ("src/bin/server.rs", "fn g() {}"),
            ("src/both.rs", "#[cfg(test)] mod x; #[cfg(not(test))] mod x;"),
            ("src/both/x.rs", "fn h() {}"),
        ]
        .into_iter()
        .map(lower)
        .collect();
        leave_out_test_files(&[], &mut modules);
        let left: Vec<&str> = modules.iter().filter(|m| !m.items.is_empty()).map(|m| &*m.path).collect();
        let expected = ["src/lib.rs", "src/mail/mod.rs", "src/mail/inner.rs", "src/either.rs", "src/bin/server.rs"];
        assert_eq!(left, [&expected[..], &["src/both.rs", "src/both/x.rs"]].concat());
    }

    #[test]
    fn a_package_owns_the_files_below_its_folder() {
        let package = |folder: &str| PackageFact {
            name: folder.to_owned(),
            folder: folder.to_owned(),
            binaries: vec![],
            dependencies: vec![],
            locked: BTreeMap::new(),
            span: crate::source::Span::start_of(crate::source::FileId(0)),
        };
        let packages = [package(""), package("svc"), package("svc/inner")];
        assert_eq!(owner(&packages, "svc/inner/src/lib.rs"), Some(2));
        assert_eq!(owner(&packages, "svc/src/lib.rs"), Some(1));
        assert_eq!(owner(&packages, "svc2/src/lib.rs"), Some(0));
        assert_eq!(owner(&packages[1..], "other/src/lib.rs"), None);
    }
}
