//! From what retries or calls out to everything that is needed to read it: down to the definitions of what it uses,
//! and up to the entries from which it is reached.

use std::collections::{HashMap, HashSet};

use super::modules::Modules;
use super::names::{Item, Names};
use super::packages::Packages;

/// A name that functions in more files of one package have says nothing about which of them is meant: it leads only to
/// files that name the type or trait, too.
pub(super) const MANY: usize = 8;

/// An item: its file, and its number there.
type ItemIx = (usize, usize);

/// Which of the files are needed. `names` has an entry for each Rust file that counts.
pub(super) fn close(names: &[Option<Names<'_>>], packages: &Packages, modules: &Modules) -> Vec<bool> {
    let table = Table::new(names, packages);
    let mut search = Search {
        table: &table,
        modules,
        selected: vec![false; names.len()],
        relevant: HashSet::new(),
        needed: HashSet::new(),
        used: HashSet::new(),
        used_anywhere: HashSet::new(),
        open: table.seeds().into_iter().map(Step::Up).collect(),
    };
    search.run();
    search.selected
}

struct Table<'n, 't> {
    names: &'n [Option<Names<'t>>],
    packages: &'n Packages,
    /// The items of a name.
    by_name: HashMap<&'t str, Vec<ItemIx>>,
    /// The functions in the blocks of a type or trait.
    by_owner: HashMap<&'t str, Vec<ItemIx>>,
    /// The items that use a name of a function.
    users: HashMap<&'t str, Vec<ItemIx>>,
    /// Names of functions that many files of a package have.
    many: HashSet<(usize, &'t str)>,
    /// The files that name a type or trait of which a method has such a name.
    naming: HashMap<&'t str, HashSet<usize>>,
}

impl<'n, 't> Table<'n, 't> {
    fn new(names: &'n [Option<Names<'t>>], packages: &'n Packages) -> Self {
        let mut table = Self {
            names,
            packages,
            by_name: HashMap::new(),
            by_owner: HashMap::new(),
            users: HashMap::new(),
            many: HashSet::new(),
            naming: HashMap::new(),
        };
        let mut functions: HashMap<&'t str, HashMap<usize, Vec<usize>>> = HashMap::new();
        for (ix, item) in table.items().filter(|(_, item)| !item.name.is_empty()) {
            table.by_name.entry(item.name).or_default().push(ix);
            if !item.owner.is_empty() {
                table.by_owner.entry(item.owner).or_default().push(ix);
            }
            if item.is_function {
                functions.entry(item.name).or_default().entry(packages.of(ix.0)).or_default().push(ix.0);
            }
        }
        for (name, spread) in &mut functions {
            for (package, files) in spread {
                files.dedup();
                if files.len() > MANY {
                    table.many.insert((*package, name));
                }
            }
        }
        for (ix, item) in table.items() {
            for name in item.uses.iter().filter(|name| functions.contains_key(*name)) {
                table.users.entry(*name).or_default().push(ix);
            }
        }
        table.find_naming();
        table
    }

    fn find_naming(&mut self) {
        let of_many = |(ix, item): &(ItemIx, &Item<'t>)| {
            item.is_function && self.many.contains(&(self.packages.of(ix.0), item.name))
        };
        let owners = self.items().filter(of_many).flat_map(|(_, item)| [item.owner, item.of_trait]);
        let mut naming: HashMap<&'t str, HashSet<usize>> =
            owners.filter(|owner| !owner.is_empty()).map(|owner| (owner, HashSet::new())).collect();
        for ((file, _), item) in self.items() {
            for name in &item.uses {
                if let Some(files) = naming.get_mut(name) {
                    files.insert(file);
                }
            }
        }
        self.naming = naming;
    }

    fn items(&self) -> impl Iterator<Item = (ItemIx, &'n Item<'t>)> + use<'n, 't> {
        let files = self.names.iter().enumerate().filter_map(|(i, found)| Some((i, found.as_ref()?)));
        files.flat_map(|(file, found)| found.items.iter().enumerate().map(move |(n, item)| ((file, n), item)))
    }

    fn item(&self, (file, n): ItemIx) -> Option<&'n Item<'t>> {
        self.names.get(file)?.as_ref()?.items.get(n)
    }

    fn package(&self, ix: ItemIx) -> usize {
        self.packages.of(ix.0)
    }

    /// The items that use a function by its name. Where many files of its package have one of that name, only those in
    /// files that name its type or trait.
    fn users(&self, function: ItemIx) -> impl Iterator<Item = ItemIx> {
        let package = self.package(function);
        let item = self.item(function).filter(|f| f.is_function);
        let name = item.map_or("", |f| f.name);
        let is_many = self.many.contains(&(package, name));
        let owners = item.map_or([""; 2], |f| [f.owner, f.of_trait]);
        let named = move |user: &ItemIx| {
            owners.iter().any(|owner| self.naming.get(owner).is_some_and(|files| files.contains(&user.0)))
        };
        let users = self.users.get(name).into_iter().flatten().copied();
        users.filter(move |user| (!is_many || named(user)) && self.packages.sees(self.package(*user), package))
    }

    /// The items that repeat something, or make a request.
    fn seeds(&self) -> Vec<ItemIx> {
        let carriers = self.carriers();
        let carried: HashSet<ItemIx> = carriers
            .iter()
            .flat_map(|ix| self.users(*ix).map(move |user| (*ix, user)))
            .filter(|(carrier, user)| {
                let name = self.item(*carrier).map_or("", |c| c.name);
                self.item(*user).is_some_and(|user| user.looped.binary_search(&name).is_ok())
            })
            .map(|(_, user)| user)
            .collect();
        let is_seed = |(ix, item): &(ItemIx, &Item<'_>)| {
            item.requests || item.repeats || item.recurses && carriers.contains(ix) || carried.contains(ix)
        };
        self.items().filter(is_seed).map(|(ix, _)| ix).collect()
    }

    /// The functions that lead to a call which may leave the program.
    fn carriers(&self) -> HashSet<ItemIx> {
        let mut open: Vec<ItemIx> = self.items().filter(|(_, item)| item.leaves).map(|(ix, _)| ix).collect();
        let mut carriers: HashSet<ItemIx> = open.iter().copied().collect();
        while let Some(ix) = open.pop() {
            open.extend(self.users(ix).filter(|user| carriers.insert(*user)));
        }
        carriers
    }
}

#[derive(Clone, Copy)]
enum Step<'t> {
    /// An item carries a layer or a request, or leads to one that does.
    Up(ItemIx),
    /// An item is needed.
    Need(ItemIx),
    /// A file is needed, and with it what its modules and globs name.
    File(usize),
    /// A name is used by an item of this package that is needed.
    Use(usize, &'t str),
}

struct Search<'s, 'n, 't> {
    table: &'s Table<'n, 't>,
    modules: &'s Modules,
    selected: Vec<bool>,
    relevant: HashSet<ItemIx>,
    needed: HashSet<ItemIx>,
    used: HashSet<(usize, &'t str)>,
    used_anywhere: HashSet<&'t str>,
    open: Vec<Step<'t>>,
}

impl<'n, 't> Search<'_, 'n, 't> {
    fn run(&mut self) {
        while let Some(step) = self.open.pop() {
            match step {
                Step::Up(ix) if self.relevant.insert(ix) => self.up(ix),
                Step::Need(ix) if self.needed.insert(ix) => self.need(ix),
                Step::File(file) => self.file(file),
                Step::Use(package, name) if self.used.insert((package, name)) => self.use_name(package, name),
                _ => {}
            }
        }
    }

    /// Whoever calls a function that matters matters.
    fn up(&mut self, ix: ItemIx) {
        let table = self.table;
        self.open.push(Step::Need(ix));
        self.open.extend(table.users(ix).map(Step::Up));
    }

    fn need(&mut self, ix: ItemIx) {
        let table = self.table;
        self.file(ix.0);
        let Some(item) = table.item(ix) else { return };
        let around = [item.name, item.owner, item.of_trait];
        let package = table.package(ix);
        let names = item.uses.iter().chain(&around).filter(|n| !n.is_empty());
        self.open.extend(names.map(|name| Step::Use(package, name)));
    }

    /// The items of a name that is used: types and constants, functions that are not of many files,
    /// and methods of types that are used, too.
    fn use_name(&mut self, package: usize, name: &'t str) {
        let table = self.table;
        self.used_anywhere.insert(name);
        let items = |map: &HashMap<&'t str, Vec<ItemIx>>| map.get(name).cloned().unwrap_or_default();
        for ix in items(&table.by_name) {
            let Some(item) = table.item(ix).filter(|_| table.packages.sees(package, table.package(ix))) else {
                continue;
            };
            let needed = match (item.is_function, item.owner) {
                (false, _) => true,
                (true, "") => !table.many.contains(&(table.package(ix), name)),
                (true, owner) => self.used_anywhere.contains(owner),
            };
            if needed {
                self.open.push(Step::Need(ix));
            }
        }
        for ix in items(&table.by_owner) {
            let Some(item) = table.item(ix).filter(|_| table.packages.sees(package, table.package(ix))) else {
                continue;
            };
            let implicit = !item.of_trait.is_empty() && !table.by_name.contains_key(item.of_trait);
            if implicit || self.used_anywhere.contains(item.name) {
                self.open.push(Step::Need(ix));
            }
        }
    }

    fn file(&mut self, file: usize) {
        let Some(selected) = self.selected.get_mut(file) else { return };
        if std::mem::replace(selected, true) {
            return;
        }
        // What stands outside of any item.
        self.open.push(Step::Need((file, 0)));
        let table = self.table;
        if let Some(Some(names)) = table.names.get(file) {
            let around = self.modules.around(file, names).into_iter();
            self.open.extend(around.filter(|&other| self.selected.get(other) == Some(&false)).map(Step::File));
        }
    }
}
