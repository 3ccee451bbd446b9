//! The command line as a person meets it: each file in tests/cmd is a session.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, command, finish};

#[test]
fn sessions() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("tests/cmd/*.toml").run();
}

#[test]
fn colour_follows_the_flag_then_the_environment() {
    let folder = Folder::with("a.yaml", "x: [\n_format_version: \"3.0\"\n");
    let colored = |args: &[&str], variables: &[(&str, &str)]| {
        let mut args = args.to_vec();
        args.insert(0, "check");
        finish(command(&folder.root, &args).envs(variables.iter().copied())).stdout.contains('\u{1b}')
    };
    assert!(!colored(&[], &[]), "no colour into a pipe");
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

const KONG: &str = "_format_version: \"3.0\"\nservices:\n- name: orders\n  host: orders\n  retries: 3\n";

#[test]
fn every_rule_and_system_is_listed_and_explained() {
    let folder = Folder::new();
    let names = |command: &str, list: &str, name: &str| {
        let output = folder.retrylint(&[command, "--format", "json"]);
        assert_eq!(output.code(), 0);
        let items = output.json()[list].as_array().unwrap().clone();
        items.iter().map(|item| item[name].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let rules = names("rules", "rules", "rule");
    assert_eq!(rules.len(), retrylint::rules::all().len());
    let table = folder.retrylint(&["rules"]).stdout;
    for rule in &rules {
        assert!(table.lines().any(|line| line.starts_with(&format!("{rule} "))), "{rule} in\n{table}");
        let page = folder.retrylint(&["explain", rule]);
        assert_eq!(page.code(), 0);
        assert!(page.stdout.starts_with(&format!("# {rule}\n")), "{}", page.stdout);
    }
    let systems = names("systems", "systems", "system");
    assert_eq!(systems.len(), retrylint::system_metas().count());
    let table = folder.retrylint(&["systems"]).stdout;
    for system in systems {
        assert!(table.contains(&format!(" ({system})\n")), "{system} in\n{table}");
    }
}

#[test]
fn every_default_names_its_source() {
    for meta in retrylint::system_metas() {
        for default in meta.defaults {
            assert!(!default.source.is_empty() && !default.value.is_empty(), "{}: {}", meta.id, default.what);
        }
    }
}

#[test]
fn the_configuration_is_found_from_the_first_path_upwards() {
    let folder = Folder::with("shop/retrylint.toml", "nonsense = 1\n");
    folder.write("shop/deploy/kong.yaml", KONG).write("other/kong.yaml", KONG);
    assert_eq!(folder.retrylint(&["check", "shop/deploy/kong.yaml"]).code(), 2);
    assert_eq!(folder.retrylint(&["check", "shop/deploy", "other"]).code(), 2);
    assert_ne!(folder.retrylint(&["check", "other", "shop"]).code(), 2);
    assert_eq!(folder.retrylint(&["check", "other", "--config", "shop/retrylint.toml"]).code(), 2);
    let from_inside = support::retrylint(&folder.root.join("shop/deploy"), &[]);
    assert_eq!(from_inside.code(), 2);
    assert!(from_inside.stderr.contains("../retrylint.toml:1:1"), "{}", from_inside.stderr);
}

#[test]
fn an_unusable_configuration_is_named() {
    let folder = Folder::with("a.yaml", KONG);
    folder.write("latin.toml", b"exclude = [\"caf\xE9\"]");
    let missing = folder.retrylint(&["check", "--config", "nope.toml"]);
    assert_eq!((missing.code(), missing.stdout.as_str()), (2, ""));
    assert!(missing.stderr.contains("nope.toml cannot be read: no such file"), "{}", missing.stderr);
    let latin = folder.retrylint(&["check", "--config", "latin.toml"]);
    assert!(latin.code() == 2 && latin.stderr.contains("latin.toml cannot be read: not UTF-8"), "{}", latin.stderr);
}

#[test]
fn a_text_on_standard_input_is_read_as_the_file_it_names() {
    let folder = Folder::with("deploy/kong.yaml", "_format_version: \"3.0\"\n");
    let mut command =
        command(&folder.root, &["check", ".", "-", "--stdin-path", "deploy/kong.yaml", "--format", "json"]);
    let typed = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(typed.path(), KONG).unwrap();
    let output = finish(command.stdin(std::fs::File::open(typed.path()).unwrap()));
    let layers = output.json()["layers"].clone();
    assert_eq!(layers[0]["location"]["file"], "deploy/kong.yaml");
    assert_eq!(layers[0]["location"]["line"], 5);
    assert_eq!(output.json()["summary"]["files"], 1);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    for n in 0..300 {
        folder.write(&format!("kong{n}.yaml"), KONG);
    }
    for format in ["text", "json"] {
        let mut child = command(&folder.root, &["check", "--format", format])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let whole = folder.retrylint(&["check", "--format", format]);
        assert_eq!(output.status.code(), whole.status.code());
    }
}
