//! Running the program as a person would, over folders made for a test.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test fails by panicking, and says so")]

pub mod system;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What the program said.
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// The exit status. A program that a signal ended (a stack overflow, an abort) has none.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("ended by a signal: {}\n{}", self.status, self.stderr))
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n{}\n{}", self.stdout, self.stderr))
    }

    /// The files and reasons under `unread`.
    pub fn unread(&self) -> Vec<(String, String)> {
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        self.json()["unread"].as_array().unwrap().iter().map(|u| (text(&u["file"]), text(&u["reason"]))).collect()
    }

    /// The files under `unread`, each once.
    pub fn unread_files(&self) -> Vec<String> {
        let mut files: Vec<_> = self.unread().into_iter().map(|(file, _)| file).collect();
        files.dedup();
        files
    }
}

/// A folder that is removed at the end of a test.
pub struct Folder {
    _folder: tempfile::TempDir,
    pub root: PathBuf,
}

impl Folder {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Self { _folder: folder, root }
    }

    pub fn with(path: &str, text: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(path, text);
        folder
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// `retrylint check --format json .`
    pub fn check(&self) -> Output {
        self.retrylint(&["check", "--format", "json", "."])
    }

    pub fn retrylint(&self, args: &[&str]) -> Output {
        retrylint(&self.root, args)
    }
}

/// The program, with nothing of this machine's settings.
pub fn command(cwd: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrylint"));
    command.current_dir(cwd).args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("RUST_BACKTRACE", "0");
    command
}

/// Runs the program; it must end within two minutes.
pub fn retrylint(cwd: &Path, args: &[&str]) -> Output {
    finish(command(cwd, args).stdin(Stdio::null()))
}

/// A program that a test needs. Where it is not installed the test is skipped, which is said; CI_REQUIRES_ALL makes that
/// a failure.
pub fn tool(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        missing(&format!("{name} is not installed"));
    }
    found
}

/// Says that a test is skipped, and why.
pub fn missing(what: &str) {
    assert!(std::env::var_os("CI_REQUIRES_ALL").is_none(), "{what} (see .ci/run)");
    eprintln!("SKIPPED: {what} (see .ci/run)");
}

/// Runs a command; it must end within two minutes.
pub fn finish(command: &mut Command) -> Output {
    finish_within(command, Duration::from_secs(120))
}

/// Runs a command; it must end in time.
pub fn finish_within(command: &mut Command, time: Duration) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let out = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let err = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > time {
            child.kill().unwrap();
            panic!("still running after {time:?}: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Output { status, stdout: out.join().unwrap().unwrap(), stderr: err.join().unwrap().unwrap() }
}

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All stages but the report, on a path of the repository, with the configuration of somebody who wrote none.
pub fn run(path: &str) -> retrylint::run::Run {
    let cwd = repository().canonicalize().unwrap();
    let config = retrylint::config::Config::without_file(&cwd);
    let inputs = retrylint::Inputs { cwd, paths: vec![path.into()], ..retrylint::Inputs::default() };
    retrylint::run(&inputs, &config).unwrap()
}
