//! Names: which item a path means, as far as that can be told without a type checker.
//!
//! A package is one tree of scopes: the items of its lib.rs and main.rs share the root, every other file stands where
//! its path (or its `#[path]`) puts it. A name that cannot be followed is [`Resolved::Unknown`], never guessed.

mod build;
mod resolve;

use std::collections::BTreeMap;

pub use build::leave_out_test_files;
pub use resolve::TypeName;

use super::ir::{self, Name};
use crate::config::own::HelperConfig;
use crate::facts::PackageFact;

/// A function of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FnIx(pub u32);

/// A constant or static of the repository, associated ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstIx(pub u32);

/// A struct or enum of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeIx(pub u32);

/// A scope: a file's top level, an inline module, or the items inside a function's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeIx(pub u32);

/// A function and where it stands.
#[derive(Debug, Clone)]
pub struct FnInfo<'a> {
    /// The function.
    pub function: &'a ir::Function,
    /// The scope in which its signature and body resolve (the items inside its body included).
    pub scope: ScopeIx,
    /// The package: an index into the facts' packages.
    pub package: Option<usize>,
    /// The type of its impl block, if it is a method or associated function of a type of the repository.
    pub of_type: Option<TypeIx>,
    /// The trait it implements or is provided by: the last segment.
    pub of_trait: Option<Name>,
    /// For people: `Tickets::load`, `load`.
    pub name: String,
    /// Package, module path and name: `orders::client::Tickets::load`. Survives moves inside a file.
    pub path: String,
}

/// A constant and where it stands.
#[derive(Debug, Clone)]
pub struct ConstInfo<'a> {
    /// The constant.
    pub constant: &'a ir::Const,
    /// The scope in which its value resolves.
    pub scope: ScopeIx,
    /// The type of its impl block, for an associated one.
    pub of_type: Option<TypeIx>,
    /// Its package.
    pub package: Option<usize>,
}

/// A struct or enum and where it stands.
#[derive(Debug, Clone)]
pub struct TypeInfo<'a> {
    /// Its name.
    pub name: &'a Name,
    /// What it is.
    pub kind: TypeKind<'a>,
    /// Its scope.
    pub scope: ScopeIx,
    /// Its package.
    pub package: Option<usize>,
}

/// The two kinds of types.
#[derive(Debug, Clone, Copy)]
pub enum TypeKind<'a> {
    /// A struct.
    Struct(&'a ir::Struct),
    /// An enum's variants.
    Enum(&'a [Name]),
}

/// What a path means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// A function, or an associated function of a type.
    Fn(FnIx),
    /// A constant or static.
    Const(ConstIx),
    /// A struct or enum.
    Type(TypeIx),
    /// A variant of an enum of the repository.
    Variant(TypeIx, Name),
    /// Something outside of the repository, its path written out as far as `use` tells:
    /// `reqwest_retry::policies::ExponentialBackoff::builder`.
    External(ir::Path),
    /// A name that nothing in scope explains: a local variable, the prelude, a glob's.
    Unknown,
}

/// All names of the repository.
#[derive(Debug, Default)]
pub struct Index<'a> {
    functions: Vec<FnInfo<'a>>,
    constants: Vec<ConstInfo<'a>>,
    types: Vec<TypeInfo<'a>>,
    scopes: Vec<Scope<'a>>,
    /// Root scopes by the name that code uses for the crate, for each package.
    roots: BTreeMap<String, Vec<ScopeIx>>,
    methods: BTreeMap<(TypeIx, Name), Vec<FnIx>>,
    trait_methods: BTreeMap<(Name, Name), Vec<FnIx>>,
    traits_of: BTreeMap<Name, Vec<TypeIx>>,
    by_name: BTreeMap<Name, Vec<FnIx>>,
    assoc_consts: BTreeMap<(TypeIx, Name), ConstIx>,
    packages: &'a [PackageFact],
    /// What the configuration says of functions that retry.
    pub(crate) helpers: &'a [HelperConfig],
    /// For each package, what its crate names mean: a root of the repository, or something from outside.
    crates: Vec<BTreeMap<Name, Option<ScopeIx>>>,
}

#[derive(Debug, Default)]
struct Scope<'a> {
    parent: Option<ScopeIx>,
    /// Whether names of the parent are seen from here (bodies), or only through `super` (modules).
    transparent: bool,
    /// The root of its crate.
    root: Option<ScopeIx>,
    package: Option<usize>,
    path: Vec<Name>,
    names: BTreeMap<Name, Vec<Def>>,
    children: BTreeMap<Name, ScopeIx>,
    uses: BTreeMap<Name, Vec<&'a ir::Use>>,
    globs: Vec<&'a ir::Use>,
    aliases: BTreeMap<Name, &'a ir::Ty>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Def {
    Fn(FnIx),
    Const(ConstIx),
    Type(TypeIx),
}

impl<'a> Index<'a> {
    /// All functions, in the order of files and text.
    pub fn functions(&self) -> impl Iterator<Item = FnIx> + use<> {
        (0..self.functions.len() as u32).map(FnIx)
    }

    /// All types, in the order of files and text.
    pub fn types(&self) -> impl Iterator<Item = TypeIx> + use<> {
        (0..self.types.len() as u32).map(TypeIx)
    }

    /// A function.
    ///
    /// # Panics
    /// Never for an index that came from here.
    pub fn function(&self, ix: FnIx) -> &FnInfo<'a> {
        &self.functions[ix.0 as usize]
    }

    /// A constant.
    ///
    /// # Panics
    /// Never for an index that came from here.
    pub fn constant(&self, ix: ConstIx) -> &ConstInfo<'a> {
        &self.constants[ix.0 as usize]
    }

    /// A type.
    ///
    /// # Panics
    /// Never for an index that came from here.
    pub fn ty(&self, ix: TypeIx) -> &TypeInfo<'a> {
        &self.types[ix.0 as usize]
    }

    /// The packages that the index was made of.
    pub fn packages(&self) -> &'a [PackageFact] {
        self.packages
    }

    /// The method or associated function `name` of a type: its own first, then one that a trait impl gives it.
    /// Of several (cfg twins) the first in the order of the text.
    pub fn method(&self, ty: TypeIx, name: &str) -> Option<FnIx> {
        self.methods.get(&(ty, Name::from(name))).and_then(|all| all.first()).copied()
    }

    /// The functions `method` of all impls of the trait `of_trait` (last segment) in the repository,
    /// and its provided method if there is one.
    pub fn trait_methods(&self, of_trait: &str, method: &str) -> &[FnIx] {
        self.trait_methods.get(&(Name::from(of_trait), Name::from(method))).map_or(&[], Vec::as_slice)
    }

    /// The types of the repository that implement the trait `of_trait` (last segment).
    pub fn implementors(&self, of_trait: &str) -> &[TypeIx] {
        self.traits_of.get(of_trait).map_or(&[], Vec::as_slice)
    }

    /// Every function of that name, methods included: for the rule that a unique name is an edge of medium confidence.
    pub fn named(&self, name: &str) -> &[FnIx] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}
