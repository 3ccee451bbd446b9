//! Names across files: which function, constant or type a path means.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use retrylint::facts::{Dependency, PackageFact};
use retrylint::rust::index::{Index, Resolved, TypeName};
use retrylint::rust::{ir, lower};
use retrylint::source::{FileId, SourceFile, Span};

struct Repository {
    packages: Vec<PackageFact>,
    modules: Vec<ir::Module>,
}

/// Name, folder, and the dependencies: alias and package.
type Package<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

fn repository(packages: &[Package<'_>], files: &[(&str, &str)]) -> Repository {
    let packages = packages
        .iter()
        .map(|(name, folder, dependencies)| PackageFact {
            name: (*name).to_owned(),
            folder: (*folder).to_owned(),
            binaries: vec![],
            dependencies: dependencies
                .iter()
                .map(|(alias, package)| Dependency {
                    alias: (*alias).to_owned(),
                    package: (*package).to_owned(),
                    version: None,
                    path: None,
                })
                .collect(),
            locked: Default::default(),
            span: Span::start_of(FileId(0)),
        })
        .collect();
    let modules = files
        .iter()
        .zip(0..)
        .map(|((path, text), id)| {
            let file = SourceFile { id: FileId(id), path: Arc::from(*path), text: Arc::from(*text) };
            lower::lower(&file, false).unwrap()
        })
        .collect();
    Repository { packages, modules }
}

impl Repository {
    /// What `path` means where the function `at` stands.
    fn means(&self, at: &str, path: &str) -> String {
        let index = Index::new(&self.packages, &self.modules);
        let place = index.functions().find(|f| index.function(*f).path == at).unwrap();
        let info = index.function(place);
        let path = ir::Path { segments: path.split("::").map(ir::Name::from).collect() };
        match index.resolve(info.scope, info.of_type, &path) {
            Resolved::Fn(f) => format!("fn {}", index.function(f).path),
            Resolved::Const(c) => format!("const {}", index.constant(c).constant.name),
            Resolved::Type(t) => format!("type {}", index.ty(t).name),
            Resolved::Variant(t, name) => format!("variant {}::{name}", index.ty(t).name),
            Resolved::External(path) => format!("external {}", path.segments.join("::")),
            Resolved::Unknown => "unknown".to_owned(),
        }
    }
}

fn one_package(files: &[(&str, &str)]) -> Repository {
    repository(&[("shop", "shop", &[("backon", "backon"), ("http", "reqwest")])], files)
}

#[test]
fn modules_imports_and_aliases_lead_to_the_function() {
    let repository = one_package(&[
        (
            "shop/src/main.rs",
            "mod client; mod deep; use client::{load, load as fetch}; use crate::deep::*; fn main() {}",
        ),
        ("shop/src/client.rs", "pub fn load() {} pub mod inner { pub fn nested() { super::load() } }"),
        ("shop/src/deep/mod.rs", "pub mod er; pub use er::bottom; pub const TRIES: u32 = 3;"),
        ("shop/src/deep/er.rs", "pub fn bottom() {} fn here() {}"),
    ]);
    for (path, means) in [
        ("load", "fn shop::client::load"),
        ("fetch", "fn shop::client::load"),
        ("client::load", "fn shop::client::load"),
        ("crate::client::inner::nested", "fn shop::client::inner::nested"),
        ("bottom", "fn shop::deep::er::bottom"),
        ("deep::bottom", "fn shop::deep::er::bottom"),
        ("TRIES", "const TRIES"),
        ("missing", "unknown"),
        ("client::missing", "unknown"),
    ] {
        assert_eq!(repository.means("shop::main", path), means, "{path}");
    }
    assert_eq!(repository.means("shop::client::inner::nested", "super::load"), "fn shop::client::load");
    assert_eq!(repository.means("shop::client::inner::nested", "load"), "unknown", "a module does not see its parent");
    assert_eq!(repository.means("shop::deep::er::here", "super::super::client::load"), "fn shop::client::load");
}

#[test]
fn paths_out_of_the_repository_are_written_out() {
    let repository = one_package(&[(
        "shop/src/main.rs",
        "use backon::{ExponentialBuilder as Plan, Retryable}; use http::Client; use std::time::Duration;
         fn main() { use backon::ConstantBuilder; }",
    )]);
    for (path, means) in [
        ("Plan::default", "external backon::ExponentialBuilder::default"),
        ("Client::new", "external http::Client::new"),
        ("Duration::from_secs", "external std::time::Duration::from_secs"),
        ("ConstantBuilder", "external backon::ConstantBuilder"),
        ("backon::Retryable", "external backon::Retryable"),
        ("std::env::var", "external std::env::var"),
        ("Vec::new", "unknown"),
        ("serde::Deserialize", "unknown"),
    ] {
        assert_eq!(repository.means("shop::main", path), means, "{path}");
    }
}

#[test]
fn types_bring_their_methods_constants_and_variants() {
    let repository = one_package(&[(
        "shop/src/lib.rs",
        "pub struct Tickets; pub enum Fault { Busy, Gone(u16) } pub type Desk = Tickets;
         trait Load { fn load(&self); fn twice(&self) { self.load() } }
         impl Tickets { const MAX: u32 = 4; pub fn new() -> Self { Self } fn go(&self) {} }
         impl Load for Tickets { fn load(&self) {} }",
    )]);
    for (path, means) in [
        ("Self::MAX", "const MAX"),
        ("Self::new", "fn shop::Tickets::new"),
        ("Tickets::load", "fn shop::Tickets::load"),
        ("Desk::new", "fn shop::Tickets::new"),
        ("Fault::Gone", "variant Fault::Gone"),
        ("Fault::Missing", "unknown"),
        ("Self", "type Tickets"),
    ] {
        assert_eq!(repository.means("shop::Tickets::go", path), means, "{path}");
    }
    let index = Index::new(&repository.packages, &repository.modules);
    assert_eq!(index.trait_methods("Load", "load").len(), 1);
    assert_eq!(index.trait_methods("Load", "twice").len(), 1, "a provided method counts");
    assert_eq!(index.implementors("Load").len(), 1);
}

#[test]
fn smart_pointers_and_locks_are_looked_through() {
    let repository = one_package(&[(
        "shop/src/lib.rs",
        "use std::sync::Arc; struct Desk; fn take(a: &Arc<Mutex<Desk>>, b: Box<http::Client>, c: (Desk, Desk), d: T) {}",
    )]);
    let index = Index::new(&repository.packages, &repository.modules);
    let info = index.function(index.functions().next().unwrap());
    let types: Vec<_> = info
        .function
        .params
        .iter()
        .map(|p| match index.resolve_type(info.scope, None, p.ty.as_ref().unwrap()) {
            TypeName::Local(ix) => index.ty(ix).name.to_string(),
            TypeName::External(path) => path.segments.join("::"),
            TypeName::Unknown => "?".to_owned(),
        })
        .collect();
    assert_eq!(types, ["Desk", "http::Client", "?", "?"]);
}

#[test]
fn packages_reach_each_other_by_the_names_their_manifests_give() {
    let repository = repository(
        &[("shop-app", "app", &[("core", "shop-core")]), ("shop-core", "core", &[]), ("other", "other", &[])],
        &[
            ("app/src/main.rs", "use core::client::load; fn main() {}"),
            ("app/src/bin/tool.rs", "fn main() { helper() } fn helper() {}"),
            ("core/src/lib.rs", "pub mod client;"),
            ("core/src/client.rs", "pub fn load() { crate::client::load() }"),
            ("other/src/lib.rs", "fn alone() {}"),
        ],
    );
    assert_eq!(repository.means("shop_app::main", "load"), "fn shop_core::client::load");
    assert_eq!(repository.means("shop_app::main", "core::client::load"), "fn shop_core::client::load");
    assert_eq!(
        repository.means("tool::main", "helper"),
        "fn tool::helper",
        "a binary of its own is a crate of its own"
    );
    assert_eq!(repository.means("other::alone", "shop_core::client::load"), "unknown", "not a dependency");
}

#[test]
fn a_path_attribute_moves_a_file() {
    let repository = one_package(&[
        ("shop/src/lib.rs", "#[path = \"odd/place.rs\"] mod net; fn here() {}"),
        ("shop/src/odd/place.rs", "pub fn load() {}"),
    ]);
    assert_eq!(repository.means("shop::here", "net::load"), "fn shop::net::load");
}

#[test]
fn names_that_lead_in_circles_end() {
    let repository = one_package(&[
        ("shop/src/lib.rs", "mod a; mod b; pub use a::x; pub use b::*; type T = U; type U = T; fn here() {}"),
        ("shop/src/a.rs", "pub use crate::b::x; pub use crate::*;"),
        ("shop/src/b.rs", "pub use crate::a::x; pub use crate::a::*;"),
    ]);
    assert_eq!(repository.means("shop::here", "x"), "unknown");
    assert_eq!(repository.means("shop::here", "T::new"), "unknown");
}
