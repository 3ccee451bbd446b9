//! Tells the program which commit it is built from, for `--version`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RETRYLINT_COMMIT");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = given().or_else(packaged).or_else(checked_out);
    let commit = commit.map_or_else(String::new, |commit| format!(" ({commit})"));
    println!("cargo:rustc-env=RETRYLINT_VERSION={version}{commit}");
}

/// By who builds: `RETRYLINT_COMMIT="1a2b3c4d5 2026-01-31"`.
fn given() -> Option<String> {
    env::var("RETRYLINT_COMMIT").ok().filter(|commit| !commit.is_empty())
}

/// In a published crate, by Cargo.
fn packaged() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let hash = text.split("\"sha1\": \"").nth(1)?.split('"').next()?;
    hash.get(..9).map(str::to_owned)
}

/// In a checkout, by git, with the day of the commit. Only for optimised builds: else each commit would compile everything again.
fn checked_out() -> Option<String> {
    if !Path::new(".git").exists() || env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return None;
    }
    // It changes with each commit and checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists())?;
    println!("cargo:rerun-if-changed={log}");
    git(&["log", "-1", "--abbrev=9", "--format=%h %cs"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
