//! How values of a type are made: where one place in the repository makes all of them, they hold what it puts in.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::machine::{Aim, Machine, Shared};
use super::value::{ClientLayer, Kind, Object, Typed, Value, Why};
use crate::rust::crates;
use crate::rust::crates::client::{self, Library};
use crate::rust::index::{FnIx, TypeIx, TypeKind, TypeName};
use crate::rust::ir::{Ty, TyShape};
use crate::source::Span;

/// Steps for finding out one way in which a type is made.
const STEPS: u32 = 20_000;

/// Steps for finding out how all types are made.
const STEPS_IN_ALL: u64 = 12_000_000;

/// Types within types whose making is looked for; more takes twice as long, and finds no more.
const DEPTH: u8 = 2;

/// Types within types in which a policy is looked for.
const DEPTH_OF_POLICIES: u8 = 4;

/// Ways of making one type that are looked at.
const WAYS: usize = 6;

/// How far up the callers of a constructor are followed.
const UP: u8 = 3;

/// A package, and a system that its code uses.
type InPackage = (Option<usize>, &'static str);

/// What was found out of each, by the depth at which it was asked.
type Known<K, V> = RefCell<BTreeMap<(K, u8), V>>;

/// What types are made with, found out when it is first asked.
///
/// What is found out asks for other types in turn, one level deeper, and knows nothing at the deepest. So an answer
/// follows from the question and its depth alone, and never from what was asked before.
pub(crate) struct Instances<'a> {
    left: Cell<u64>,
    depth: Cell<u8>,
    made: Known<TypeIx, Option<Value<'a>>>,
    layers: Known<Option<usize>, Vec<ClientLayer<'a>>>,
    /// Whether values of a type may hold what repeats calls.
    policies: Known<TypeIx, bool>,
    of_libraries: Known<InPackage, Option<ClientLayer<'a>>>,
}

impl<'a> Instances<'a> {
    /// None found out yet.
    pub(crate) fn new() -> Self {
        Self {
            left: Cell::new(STEPS_IN_ALL),
            depth: Cell::new(0),
            made: RefCell::default(),
            layers: RefCell::default(),
            policies: RefCell::default(),
            of_libraries: RefCell::default(),
        }
    }
}

impl<'a> Machine<'a, '_> {
    /// The answer to a question, as it was found out at this depth or is found out now. At the deepest level nothing
    /// is known.
    fn known<K: Ord + Copy, V: Clone + Default>(
        &mut self,
        table: impl for<'i> Fn(&'i Instances<'a>) -> &'i Known<K, V>,
        key: K,
        find: impl FnOnce(&mut Self) -> V,
    ) -> V {
        let instances = self.instances;
        let depth = instances.depth.get();
        if let Some(known) = table(instances).borrow().get(&(key, depth)) {
            return known.clone();
        }
        if depth >= DEPTH || instances.left.get() == 0 {
            return V::default();
        }
        instances.depth.set(depth + 1);
        let found = find(self);
        instances.depth.set(depth);
        table(instances).borrow_mut().insert((key, depth), found.clone());
        found
    }
}

impl<'a> Machine<'a, '_> {
    /// A value of a struct or enum of the repository of which nothing else is known.
    pub(crate) fn instance(&mut self, ty: TypeIx, id: u64, why: Why<'a>, typed: Typed<'a>) -> Value<'a> {
        let TypeKind::Struct(item) = self.shared.index.ty(ty).kind else {
            return Value::unknown_of(id, why, Some(typed));
        };
        if item.derives.iter().any(|d| &**d == "Deserialize") && !self.is_made(ty) {
            return Value::unknown_of(id, why, Some(typed));
        }
        // `Vec<T>` and `Option<T>` of a type are not the type; only what the pointers around it leave.
        self.instance_of(ty)
    }

    fn is_made(&self, ty: TypeIx) -> bool {
        !self.shared.statics.makers(ty).is_empty()
    }

    /// A value of a struct: as it is made, if it is made in one way.
    pub(crate) fn instance_of(&mut self, ty: TypeIx) -> Value<'a> {
        // To find out which calls there are, the types of the fields mostly tell enough.
        let made =
            if self.discovering() && !self.may_hold_policy(ty, DEPTH_OF_POLICIES) { None } else { self.made(ty) };
        match made {
            Some(made) => made.deep_clone(),
            None => Value::new(Kind::Object(Rc::new(Object { ty: Some(ty), fields: RefCell::default(), rest: None }))),
        }
    }

    /// Whether a value of a type may hold what repeats calls: a policy of a crate, or something that can be called.
    fn may_hold_policy(&self, ty: TypeIx, depth: u8) -> bool {
        if let Some(known) = self.instances.policies.borrow().get(&(ty, depth)) {
            return *known;
        }
        let info = self.shared.index.ty(ty);
        let TypeKind::Struct(item) = info.kind else { return false };
        let may = item.fields.iter().any(|field| {
            let typed = Typed { ty: &field.ty, scope: info.scope, self_ty: Some(ty) };
            self.type_may_hold_policy(typed, depth)
        });
        self.instances.policies.borrow_mut().insert((ty, depth), may);
        may
    }

    fn type_may_hold_policy(&self, typed: Typed<'a>, depth: u8) -> bool {
        if matches!(typed.ty.shape, TyShape::Dyn | TyShape::Impl | TyShape::Other) {
            return true;
        }
        let own = match self.type_name(typed) {
            TypeName::External(path) => crates::is_of_one(&path),
            TypeName::Local(ty) => depth > 0 && self.may_hold_policy(ty, depth - 1),
            // A type parameter may be anything.
            TypeName::Unknown => typed.ty.shape == TyShape::Path && typed.ty.path.segments.len() == 1,
        };
        own || typed.ty.args.iter().any(|ty| self.type_may_hold_policy(Typed { ty, ..typed }, depth))
    }

    fn made(&mut self, ty: TypeIx) -> Option<Value<'a>> {
        self.known(|i| &i.made, ty, |m| m.find_made(ty))
    }

    fn find_made(&mut self, ty: TypeIx) -> Option<Value<'a>> {
        let statics = self.shared.statics;
        let mut ways: Vec<Value<'a>> = Vec::new();
        for maker in statics.makers(ty).iter().take(4) {
            let mut starts = vec![*maker];
            for _ in 0..UP {
                let has_params = starts.iter().any(|s| !self.shared.index.function(*s).function.params.is_empty());
                let up: Vec<FnIx> = starts.iter().flat_map(|s| statics.callers(*s)).copied().take(4).collect();
                if !has_params || up.is_empty() {
                    break;
                }
                starts = up;
            }
            for start in starts {
                if ways.len() >= WAYS {
                    break;
                }
                ways.extend(capture(self.shared, self.instances, start, ty));
            }
        }
        merged(ways)
    }
}

impl<'a> Machine<'a, '_> {
    /// The layers of a client of which only the type is known: those of the one client that its package makes.
    pub(crate) fn only_layers(&mut self) -> Vec<ClientLayer<'a>> {
        let package = self.frames.first().and_then(|f| self.shared.index.function(f.function).package);
        self.known(|i| &i.layers, package, |m| m.find_only_layers(package))
    }

    fn find_only_layers(&mut self, package: Option<usize>) -> Vec<ClientLayer<'a>> {
        let index = self.shared.index;
        let mut found: Vec<Vec<ClientLayer<'a>>> = Vec::new();
        for ix in index.functions() {
            let info = index.function(ix);
            if info.package != package || !info.function.ret.as_ref().is_some_and(|ty| holds_client(ty, 3)) {
                continue;
            }
            let mut machine = Machine::new(self.shared, self.instances, Aim::Capture(TypeIx(u32::MAX)));
            machine.steps = STEPS.min(u32::try_from(self.instances.left.get()).unwrap_or(u32::MAX));
            let before = machine.steps;
            let made = machine.run(ix);
            let spent = u64::from(before - machine.steps);
            self.instances.left.set(self.instances.left.get().saturating_sub(spent));
            let Ok(made) = made.and_then(|v| machine.unwrap_or_return(v, info.function.name_span)) else { continue };
            if let Kind::Client(client) = &made.kind
                && !client.layers.is_empty()
            {
                let places = |all: &[ClientLayer<'a>]| all.iter().map(|l| l.described().opens).collect::<Vec<_>>();
                if !found.iter().any(|f| places(f) == places(&client.layers)) {
                    found.push(client.layers.clone());
                }
            }
        }
        if found.len() == 1 { found.pop().unwrap_or_default() } else { Vec::new() }
    }
}

impl<'a> Machine<'a, '_> {
    /// The layer of a library's client of which only the type is known: that of the clients that its package makes,
    /// else those of the repository, if all have the same; where none is made, what the library does by default.
    pub(crate) fn layer_made_elsewhere(&mut self, library: &'static Library, call: Span) -> Option<ClientLayer<'a>> {
        let package = self.frames.first().and_then(|f| self.shared.index.function(f.function).package);
        let key = (package, library.system);
        self.known(|i| &i.of_libraries, key, |m| m.find_layer_made_elsewhere(library, package, call))
    }

    fn find_layer_made_elsewhere(
        &mut self,
        library: &'static Library,
        package: Option<usize>,
        call: Span,
    ) -> Option<ClientLayer<'a>> {
        let mut made = self.layers_made_in(library, |p| p == package);
        if made.is_empty() {
            made = self.layers_made_in(library, |p| p != package);
        }
        match made.len() {
            // Something is made, and what that is could not be followed: then nothing is said of it.
            0 if self.shared.statics.client_makers(library.system).next().is_some() => None,
            0 => {
                let place = self.first_mention(library, package).unwrap_or(call);
                client::default_layer(library, self, place)
            }
            1 => made.pop(),
            _ => client::one_of_several(library, &made),
        }
    }

    fn layers_made_in(&mut self, library: &Library, of: impl Fn(Option<usize>) -> bool) -> Vec<ClientLayer<'a>> {
        let mut found: Vec<ClientLayer<'a>> = Vec::new();
        let statics = self.shared.statics;
        for ix in statics.client_makers(library.system) {
            if !of(self.shared.index.function(ix).package) {
                continue;
            }
            let mut machine = Machine::new(self.shared, self.instances, Aim::Capture(TypeIx(u32::MAX)));
            machine.steps = STEPS.min(u32::try_from(self.instances.left.get()).unwrap_or(u32::MAX));
            let before = machine.steps;
            // However it ends, what was made on the way is what counts.
            let _ = machine.run(ix);
            let spent = u64::from(before - machine.steps);
            self.instances.left.set(self.instances.left.get().saturating_sub(spent));
            for layer in std::mem::take(&mut machine.layers_made) {
                let same = |l: &ClientLayer<'a>| l.described().opens == layer.described().opens;
                if layer.described().system == library.system && !found.iter().any(same) {
                    found.push(layer);
                }
            }
            machine.tidy();
        }
        found
    }

    /// The first parameter or field of a package that is a client of this library.
    fn first_mention(&self, library: &Library, package: Option<usize>) -> Option<Span> {
        let index = self.shared.index;
        let is_client = |scope, of_type, ty: &Ty| match index.resolve_type(scope, of_type, ty) {
            TypeName::External(path) => {
                let path: Vec<&str> = path.segments.iter().map(|s| &**s).collect();
                (library.is_client)(&path)
            }
            _ => false,
        };
        let own = index.functions().map(|ix| index.function(ix)).filter(|info| info.package == package);
        let mut places = BTreeSet::new();
        for info in own {
            let params = info.function.params.iter().filter_map(|p| Some((p.ty.as_ref()?, p.pat.span)));
            let fields = info.of_type.map(|ty| index.ty(ty)).and_then(|ty| match ty.kind {
                TypeKind::Struct(item) => Some((ty.scope, item)),
                TypeKind::Enum(_) => None,
            });
            places.extend(params.filter(|(ty, _)| is_client(info.scope, info.of_type, ty)).map(|(_, span)| span));
            if let Some((scope, item)) = fields {
                let clients = item.fields.iter().filter(|f| is_client(scope, info.of_type, &f.ty));
                places.extend(clients.map(|f| f.span));
            }
        }
        places.first().copied()
    }
}

fn holds_client(ty: &Ty, depth: u8) -> bool {
    depth > 0
        && (ty.path.segments.last().is_some_and(|n| &**n == "ClientWithMiddleware")
            || ty.args.iter().any(|a| holds_client(a, depth - 1)))
}

/// Runs `start` and sees what values of `ty` it makes.
fn capture<'a>(shared: &Shared<'a>, instances: &Instances<'a>, start: FnIx, ty: TypeIx) -> Vec<Value<'a>> {
    let mut machine = Machine::new(shared, instances, Aim::Capture(ty));
    machine.steps = STEPS.min(u32::try_from(instances.left.get()).unwrap_or(u32::MAX));
    let before = machine.steps;
    // However it ends, what was made on the way is what counts.
    let _ = machine.run(start);
    instances.left.set(instances.left.get().saturating_sub(u64::from(before - machine.steps)));
    std::mem::take(&mut machine.captured)
}

/// One value with the fields in which all agree; the others are not known.
fn merged<'a>(ways: Vec<Value<'a>>) -> Option<Value<'a>> {
    let (first, rest) = ways.split_first()?;
    let Kind::Object(object) = &first.kind else { return None };
    for other in rest {
        let Kind::Object(other) = &other.kind else { continue };
        for (name, value) in object.fields.borrow_mut().iter_mut() {
            let fields = other.fields.borrow();
            let Some((_, theirs)) = fields.iter().find(|(n, _)| n == name) else { continue };
            match (value.as_unknown().is_some(), theirs.as_unknown().is_some()) {
                _ if value.digest() == theirs.digest() => {}
                (true, false) => *value = theirs.clone(),
                (false, true) => {}
                _ if matches!((&value.kind, &theirs.kind), (Kind::Client(_), Kind::Client(_))) => {
                    // The client with more layers: a product is the largest that there can be.
                    if let (Kind::Client(a), Kind::Client(b)) = (&value.kind, &theirs.kind)
                        && b.layers.len() > a.layers.len()
                    {
                        *value = theirs.clone();
                    }
                }
                _ => {
                    let id = Value::digest_all("several", [&*value, theirs]);
                    *value = Value::unknown(id, Why::Several("is set to different values in different places"));
                }
            }
        }
    }
    Some(first.clone())
}
