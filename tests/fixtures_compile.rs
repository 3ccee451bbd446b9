//! The Rust code in the fixtures is real: it compiles.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::{Command, Output};

/// Checks one workspace. All of them share a target folder that is not this build's own: its lock is held elsewhere.
fn check(workspace: &str, offline: bool) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(workspace);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder).args(["check", "--workspace", "--quiet", "--locked"]);
    if offline {
        cargo.arg("--offline");
    }
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures"));
    cargo.output().expect("cargo starts")
}

/// What is in the local registry cache is enough after the first time; only then does cargo need the network.
fn compiles(workspace: &str) {
    let mut output = check(workspace, true);
    if !output.status.success() {
        output = check(workspace, false);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fixtures/{workspace} does not compile:\n{errors}");
}

#[test]
fn the_rust_code_in_the_fixtures_compiles() {
    for workspace in ["shop", "shop-fixed", "rust"] {
        compiles(workspace);
    }
}
