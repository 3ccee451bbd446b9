//! Files and folders that may not be opened. A file of its own: a program that another test's fork still holds open
//! for writing cannot be started.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, finish};

const KONG: &str = "_format_version: \"3.0\"\nservices:\n- name: orders\n  host: orders\n  retries: 3\n";

#[test]
fn what_may_not_be_opened_is_told_and_the_rest_is_read() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let folder = Folder::with("open.yaml", KONG);
    folder.write("closed.yaml", KONG).write("shut/kong.yaml", KONG).write("closed.png", "");
    let mode = |path: &str, mode: u32| {
        std::fs::set_permissions(folder.root.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (path, bits) in [("", 0o755), ("closed.yaml", 0), ("closed.png", 0), ("shut", 0)] {
        mode(path, bits);
    }
    // Root may open everything, so the program runs as somebody else then, from a place where anybody may run it.
    let program = folder.root.join("retrylint");
    std::fs::copy(env!("CARGO_BIN_EXE_retrylint"), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command.current_dir(&folder.root).args(["check", "--format", "json", "."]);
    if std::fs::read(folder.root.join("closed.yaml")).is_ok() {
        command.uid(65534).gid(65534);
    }
    let output = finish(&mut command);
    mode("shut", 0o755);
    let denied = |path: &str| (path.to_owned(), "permission denied".to_owned());
    assert_eq!(output.unread(), [denied("closed.yaml"), denied("shut")]);
    assert_eq!(output.json()["layers"].as_array().unwrap().len(), 1);
    assert!(output.code() < 2);
}
