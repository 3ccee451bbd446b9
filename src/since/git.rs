//! Git, asked as a program: it knows best what its repositories hold. Nothing that a repository configures is run.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Why git could not tell what has changed.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// There is no git.
    #[error("--since needs git, which cannot be run: {0}")]
    Missing(io::Error),
    /// The working directory is in no repository that git would read.
    #[error("--since needs a git repository: {0}")]
    NoRepository(String),
    /// The revision is not there.
    #[error(
        "there is no revision `{0}` here; `git log --oneline` and `git branch --all` list some, and a shallow clone has few (in CI: `fetch-depth: 0`)"
    )]
    Unknown(String),
    /// Git failed.
    #[error("git {command} failed: {said}")]
    Failed {
        /// What was asked.
        command: String,
        /// What it said.
        said: String,
    },
}

/// A repository.
pub(super) struct Git {
    /// Its top: absolute, links resolved.
    pub(super) top: PathBuf,
}

impl Git {
    /// The repository around a folder.
    pub(super) fn new(cwd: &Path) -> Result<Self, Trouble> {
        let output = run(cwd, &["rev-parse", "--show-toplevel"])?;
        if !output.status.success() {
            return Err(Trouble::NoRepository(said(&output)));
        }
        let top = text(&output.stdout);
        let top = PathBuf::from(top.strip_suffix('\n').unwrap_or(&top));
        if top.as_os_str().is_empty() {
            return Err(Trouble::NoRepository("this one has no files of its own".to_owned()));
        }
        Ok(Self { top: top.canonicalize().unwrap_or(top) })
    }

    /// The last commit that a revision and the present one have in common; the revision itself where there is none, as in
    /// a shallow clone.
    pub(super) fn base(&self, revision: &str) -> Result<String, Trouble> {
        let commit = format!("{revision}^{{commit}}");
        let output = run(&self.top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
        let commit = text(&output.stdout).trim().to_owned();
        if !output.status.success() || commit.is_empty() {
            return Err(Trouble::Unknown(revision.to_owned()));
        }
        let output = run(&self.top, &["merge-base", &commit, "HEAD"])?;
        let base = text(&output.stdout).trim().to_owned();
        Ok(if output.status.success() && !base.is_empty() { base } else { commit })
    }

    /// The files that it knows, seen from the top.
    pub(super) fn tracked(&self) -> Result<BTreeSet<String>, Trouble> {
        let names = self.ask(&["ls-files", "-z"])?;
        Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// What has changed between a commit and the files as they are.
    pub(super) fn diff(&self, base: &str) -> Result<String, Trouble> {
        let prefixes = ["--src-prefix=a/", "--dst-prefix=b/"];
        let plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--unified=0", "--find-renames"];
        let args: Vec<&str> = ["diff"].into_iter().chain(plain).chain(prefixes).chain([base, "--"]).collect();
        self.ask(&args)
    }

    fn ask(&self, args: &[&str]) -> Result<String, Trouble> {
        let output = run(&self.top, args)?;
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(Trouble::Failed {
                command: args.first().copied().unwrap_or_default().to_owned(),
                said: said(&output),
            }),
        }
    }
}

fn run(folder: &Path, args: &[&str]) -> Result<Output, Trouble> {
    // No program that watches the files is started, and no lock is taken that another git would wait for.
    let settings = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"];
    let output = Command::new("git").args(settings).args(args).current_dir(folder).env("LC_ALL", "C").output();
    output.map_err(Trouble::Missing)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The first line of what it complained about.
fn said(output: &Output) -> String {
    let text = text(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    line.trim_start_matches("fatal: ").to_owned()
}
