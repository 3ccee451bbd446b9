//! retrylint: finds retries that multiply.
//!
//! One way, no way back: discover → read → select → extract → link → check → report.
//! Each stage is a folder; its types are in one place:
//! [`source`] (files, spans), [`mod@select`] (which are parsed), [`syntax`] (trees), [`facts`] (what one unit says), [`model`] (what is true of all
//! of them together), [`rules`] (findings), [`report`] (text, JSON).

pub mod baseline;
pub mod cli;
pub mod commands;
pub mod config;
pub mod extract;
pub mod facts;
pub mod graph;
pub mod model;
pub mod progress;
pub mod report;
pub mod rules;
pub mod run;
pub mod rust;
pub mod select;
pub mod since;
pub mod source;
pub mod status;
pub mod suggest;
pub mod syntax;
pub mod systems;
pub mod terminal;
pub mod watch;

#[cfg(test)]
mod testing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::Config;
use rayon::prelude::*;
use rules::{Permission, Permissions};
use run::Run;
use rust::eval;
use rust::index::{Index, leave_out_test_files};
use select::{could_concern, select};
use source::account::accounts;
use source::allows::{self, Allow};
use source::discover::{Discovered, Missing, Paths, discover};
use source::read::{Texts, read};
use source::{FileId, SourceFile, Sources, Unread, generated};
use systems::SystemMeta;
use systems::clients::configured::Configured;
use watch::{Stage, Unwatched, Watch};

/// What a run starts from, besides the configuration.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The working directory: absolute, links resolved.
    pub cwd: PathBuf,
    /// Files and folders, as given.
    pub paths: Vec<PathBuf>,
    /// A text that stands for a file.
    pub stdin: Option<Stdin>,
    /// How many threads; 0 = one for each processor.
    pub threads: usize,
    /// The day on which it runs: comments may allow a finding until a day.
    pub today: jiff::civil::Date,
    /// Whether every file is parsed, not only those that select picks. The result is the same.
    pub parse_all: bool,
}

impl Inputs {
    /// Whether a file, by its shown path, lies under the given paths; whether it is there does not count.
    pub fn covers(&self, file: &str) -> bool {
        let absolute = |path: &Path| source::shown::resolved(&self.cwd.join(path));
        let file = absolute(Path::new(file));
        let real = |path: &PathBuf| self.cwd.join(path).canonicalize().unwrap_or_else(|_| absolute(path));
        self.paths.iter().any(|path| file.starts_with(real(path)))
            || self.stdin.iter().any(|stdin| file == absolute(Path::new(&stdin.path)))
    }
}

/// A text given on standard input.
#[derive(Debug, Clone)]
pub struct Stdin {
    /// The path of the file it stands for, as shown.
    pub path: String,
    /// The bytes.
    pub bytes: Arc<[u8]>,
}

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A given path does not exist.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// No threads to work on.
    #[error("no threads could be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// What every system is, whether it is read from settings or from code, in the order in which they are listed.
pub fn system_metas() -> impl Iterator<Item = &'static SystemMeta> {
    systems::all().iter().map(|system| system.meta()).chain(rust::metas())
}

/// Runs all stages but the report.
///
/// # Errors
/// If a given path does not exist, or no threads can be started. Files that cannot be read are no error:
/// they are listed in [`Run::unread`].
pub fn run(inputs: &Inputs, config: &Config) -> Result<Run, Error> {
    run_watched(inputs, config, &Unwatched)
}

/// The same, telling somebody how far it is.
///
/// # Errors
/// Those of [`run()`].
pub fn run_watched(inputs: &Inputs, config: &Config, watch: &dyn Watch) -> Result<Run, Error> {
    let pool = rust::stack::pool(inputs.threads)?;
    pool.install(|| stages(inputs, config, watch))
}

/// The files that a run would read, as shown.
///
/// # Errors
/// Those of [`run()`].
pub fn files(inputs: &Inputs, config: &Config) -> Result<Vec<Arc<str>>, Error> {
    let pool = rust::stack::pool(inputs.threads)?;
    let gathered = pool.install(|| gather(inputs, config, &Unwatched))?;
    Ok(gathered.texts.files.into_iter().map(|file| file.path).collect())
}

/// What the first two stages come to.
struct Gathered {
    discovered: Discovered,
    /// Without those that are generated.
    texts: Texts,
    /// The lines in which files say that they are.
    generated: BTreeMap<FileId, u32>,
}

/// discover → read
fn gather(inputs: &Inputs, config: &Config, watch: &dyn Watch) -> Result<Gathered, Error> {
    let exclude = config.globs(&config.exclude);
    let stdin = inputs.stdin.as_ref().map(|stdin| (&*stdin.path, stdin.bytes.clone()));
    let paths = Paths { cwd: &inputs.cwd, given: &inputs.paths, stdin, exclude: &exclude, threads: inputs.threads };
    watch.begins(Stage::Discover, 0);
    let discovered = discover(&paths)?;
    watch.begins(Stage::Read, discovered.files.len());
    let mut texts = read(&discovered.files, &|file| could_concern(file, config.include_tests));
    let mut generated = BTreeMap::new();
    if !config.include_generated {
        let named = |file: &SourceFile| discovered.files.get(file.id.0 as usize).is_some_and(|found| found.named);
        let lines = texts.files.par_iter().filter(|file| !named(file));
        generated = lines.filter_map(|file| Some((file.id, generated::line(file)?))).collect();
        texts.files.retain(|file| !generated.contains_key(&file.id));
    }
    Ok(Gathered { discovered, texts, generated })
}

/// discover → read → select → extract → link → check
fn stages(inputs: &Inputs, config: &Config, watch: &dyn Watch) -> Result<Run, Error> {
    let Gathered { discovered, texts, generated } = gather(inputs, config, watch)?;
    watch.begins(Stage::Select, texts.files.len());
    let mut selection = select(&texts.files, config.include_tests, inputs.parse_all);
    let own = Configured::new(config);
    selection.add(&texts.files, |file| own.reads(&file.path) || config.may_call_helper(file));
    let parsed = selection.parsed(&texts.files);
    let accounts = accounts(&discovered, &texts.files, &parsed, &generated);
    watch.begins(Stage::Extract, parsed.len());
    let mut facts = extract::extract(&parsed, config);
    selection.prune(&texts.files, &mut facts);
    leave_out_test_files(&facts.packages, &mut facts.modules);
    let unread = in_order([discovered.unread, texts.unread, std::mem::take(&mut facts.unread)]);
    let allows: Vec<Allow> = texts.files.par_iter().flat_map_iter(allows::allows).collect();
    let with_allows: BTreeSet<FileId> = allows.iter().map(|allow| allow.span.file).collect();
    let allowing: Vec<SourceFile> = texts.files.into_iter().filter(|file| with_allows.contains(&file.id)).collect();
    let sources: Sources =
        parsed.into_iter().chain(allowing).chain(config.sources.iter().map(|file| (**file).clone())).collect();
    watch.begins(Stage::Evaluate, facts.modules.len());
    let code = eval::read(
        &Index::new(&facts.packages, &facts.modules).with_helpers(&config.helpers),
        &facts.packages,
        &facts.settings,
    );
    watch.begins(Stage::Link, sources.iter().count());
    let model = graph::link(facts, code, &sources, config);
    watch.begins(Stage::Check, sources.iter().count());
    let permissions = Permissions {
        all: &permissions(&allows, inputs, config, &sources),
        today: inputs.today,
        without_reason: config.allow_without_reason,
        unused: config.allow_unused,
    };
    let findings = config::apply_levels(rules::check(&model, &permissions), config, &sources);
    let (suppressed, findings) = findings.into_iter().partition(|finding| finding.permitted.is_some());
    Ok(Run { sources, model, findings, suppressed, unread, files: discovered.files.len(), accounts, ..Run::default() })
}

/// What comments and `[[allow]]` say of findings.
fn permissions<'a>(allows: &'a [Allow], inputs: &Inputs, config: &'a Config, sources: &Sources) -> Vec<Permission<'a>> {
    let whole = config.file.is_some() && inputs.covers(&config.bases.config.to_string_lossy());
    let settings = config.allows.iter().map(|allow| {
        let globs = config.globs(&allow.paths);
        let files = sources.iter().filter(|file| globs.matches(&file.path)).map(|file| file.id).collect();
        Permission::Setting {
            rules: &allow.rules,
            reason: allow.reason.as_deref(),
            until: allow.until,
            span: allow.span,
            files,
            whole,
        }
    });
    allows.iter().map(Permission::Comment).chain(settings).collect()
}

fn in_order(parts: [Vec<Unread>; 3]) -> Vec<Unread> {
    let mut unread = parts.concat();
    unread.sort();
    unread
}
