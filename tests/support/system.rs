//! Systems of any size, made up: services that call each other, with layers in a mesh and in their clients.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Folder;

/// A small generator of numbers, the same on every run (Marsaglia's xorshift).
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// What a layer is called in the generated files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The mesh's, on all calls of a service.
    Mesh(String),
    /// A client's, in the settings of the first, for calls of the second.
    Client(String, String),
}

/// One made-up system.
pub struct System {
    names: Vec<String>,
    /// Caller and callee, as indexes.
    calls: Vec<(usize, usize)>,
    /// The retries that the mesh is told to make, and on what.
    mesh: BTreeMap<usize, &'static str>,
    /// The caller's settings for a callee: the waits.
    clients: BTreeMap<(usize, usize), &'static str>,
    /// The attempts of each layer.
    pub attempts: BTreeMap<Key, u64>,
}

const WORDS: [&str; 12] = [
    "orders",
    "inventory",
    "billing",
    "search",
    "users",
    "mail",
    "stock",
    "cart",
    "prices",
    "shipping",
    "audit",
    "tax",
];

const CONDITIONS: [&str; 5] =
    ["5xx", "gateway-error,connect-failure", "connect-failure,refused-stream", "503,reset", "retriable-4xx,5xx"];

const WAITS: [&str; 4] = [
    "wait-duration: 100ms",
    "wait-duration: 1s",
    "{ wait-duration: 200ms, enable-exponential-backoff: true, exponential-backoff-multiplier: 2 }",
    "{ wait-duration: 200ms, enable-randomized-wait: true }",
];

impl System {
    /// So many services in about six tiers, each called by one or two of those before.
    pub fn new(services: usize, seed: u64) -> Self {
        let numbers = &mut Numbers::new(seed);
        let name = |i: usize| match i {
            0 => "gateway".to_owned(),
            i if i <= WORDS.len() => WORDS[i - 1].to_owned(),
            i => format!("{}-{}", WORDS[(i - 1) % WORDS.len()], (i - 1) / WORDS.len() + 1),
        };
        let names: Vec<String> = (0..services).map(name).collect();
        let mut system = Self {
            names,
            calls: Vec::new(),
            mesh: BTreeMap::new(),
            clients: BTreeMap::new(),
            attempts: BTreeMap::new(),
        };
        let tier = |i: usize| if i == 0 { 0 } else { 1 + (i - 1) * 5 / services.max(2).saturating_sub(1) };
        for to in 1..services {
            let callers: Vec<usize> = (0..to).filter(|from| tier(*from) + 1 == tier(to)).collect();
            for _ in 0..=numbers.below(2) {
                let from = match callers.len() {
                    0 => 0,
                    n => callers[numbers.below(n as u64) as usize],
                };
                if !system.calls.contains(&(from, to)) {
                    system.call(from, to, numbers);
                }
            }
        }
        system
    }

    fn call(&mut self, from: usize, to: usize, numbers: &mut Numbers) {
        self.calls.push((from, to));
        if numbers.below(3) > 0 {
            self.mesh.insert(to, numbers.pick(&CONDITIONS));
            self.attempts.insert(Key::Mesh(self.names[to].clone()), 1 + numbers.below(5));
        }
        if numbers.below(3) > 0 {
            self.clients.insert((from, to), numbers.pick(&WAITS));
            self.attempts.insert(Key::Client(self.names[from].clone(), self.names[to].clone()), 1 + numbers.below(5));
        }
    }

    /// Writes all its files.
    pub fn write(&self, folder: &Folder) {
        folder.write("retrylint.toml", self.configuration());
        for (to, conditions) in &self.mesh {
            let name = &self.names[*to];
            let retries = self.attempts[&Key::Mesh(name.clone())] - 1;
            let retries = format!("{{ attempts: {retries}, retryOn: \"{conditions}\", perTryTimeout: 2s }}");
            folder.write(
                &format!("mesh/{name}.yaml"),
                format!(
                    "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: {name} }}\nspec:\n  \
                     hosts: [{name}]\n  http:\n  - retries: {retries}\n    route:\n    - destination: {{ host: {name} }}\n"
                ),
            );
        }
        for (from, name) in self.names.iter().enumerate() {
            let clients: Vec<_> = self.clients.range((from, 0)..(from + 1, 0)).collect();
            if !clients.is_empty() {
                let path = format!("services/{name}/src/main/resources/application.yml");
                folder.write(&path, self.settings(name, &clients));
            }
        }
    }

    fn configuration(&self) -> String {
        let mut text = String::new();
        for (from, name) in self.names.iter().enumerate() {
            let calls: Vec<String> =
                self.calls.iter().filter(|(f, _)| *f == from).map(|(_, to)| format!("{:?}", self.names[*to])).collect();
            writeln!(text, "[[service]]\nname = \"{name}\"\nhosts = [\"{name}\"]\npaths = [\"services/{name}/**\"]")
                .unwrap();
            writeln!(text, "calls = [{}]\n", calls.join(", ")).unwrap();
        }
        text
    }

    fn settings(&self, name: &str, clients: &[(&(usize, usize), &&'static str)]) -> String {
        let mut text = format!("spring.application.name: {name}\nresilience4j.retry.instances:\n");
        for ((_, to), waits) in clients {
            let to = &self.names[*to];
            let attempts = self.attempts[&Key::Client(name.to_owned(), to.clone())];
            writeln!(text, "  {to}:\n    max-attempts: {attempts}").unwrap();
            let waits = waits.trim_matches(['{', ' ', '}']);
            waits.split(", ").for_each(|wait| writeln!(text, "    {wait}").unwrap());
        }
        text
    }
}
