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

#[test]
fn generated_files_are_left_alone_and_said_to_be() {
    let folder = Folder::with("kong.yaml", format!("# Code generated by deck. DO NOT EDIT.\n{KONG}"));
    let layers = |args: &[&str]| {
        let output = folder.retrylint(&[&["check", "--format", "json"], args].concat()).json();
        (output["layers"].as_array().unwrap().len(), output["skipped"].clone(), output["summary"]["files"].clone())
    };
    let skipped = serde_json::json!([{"file": "kong.yaml", "reason": "line 1 says that it is generated"}]);
    assert_eq!(layers(&["."]), (0, skipped, 1.into()));
    let nothing = serde_json::json!([]);
    assert_eq!(layers(&["--include-generated"]), (1, nothing.clone(), 1.into()));
    assert_eq!(layers(&["kong.yaml"]), (1, nothing.clone(), 1.into()), "a file given by its name is read");
    let text = folder.retrylint(&["check"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("; 1 generated and left alone (--include-generated reads them)"), "{text}");
    folder.write("retrylint.toml", "include-generated = true\n");
    assert_eq!(layers(&[]), (1, nothing, 1.into()));
}

#[test]
fn findings_are_counted_on_request() {
    let folder = Folder::with("kong.yaml", format!("{KONG}- name: stock\n  host: stock\n  retries: 30\n"));
    let counted = folder.retrylint(&["check", "--statistics"]);
    assert_eq!(counted.code(), 1);
    let lines: Vec<Vec<&str>> = counted.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.contains(&vec!["1", "error", "retry-amplification"]), "{}", counted.stdout);
    assert_eq!(lines.last().unwrap()[1..], ["in", "1", "files"]);
    let rows = folder.retrylint(&["check", "--statistics", "--format", "json"]).json();
    let all: u64 = rows.as_array().unwrap().iter().map(|row| row["findings"].as_u64().unwrap()).sum();
    assert_eq!(all.to_string(), lines.last().unwrap()[0]);
    assert_eq!(folder.retrylint(&["check", "--statistics", "--format", "sarif"]).code(), 2);
}

#[test]
fn quiet_says_what_was_found_and_nothing_else() {
    let folder = Folder::with("kong.yaml", KONG);
    folder.write("broken.yaml", "a: [\n_format_version: \"3.0\"\n");
    let quiet = folder.retrylint(&["check", "-q"]);
    assert_eq!((quiet.code(), quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    folder.write("kong.yaml", KONG.replace('3', "30"));
    let quiet = folder.retrylint(&["check", "--quiet"]);
    assert!(quiet.stdout.starts_with("error[retry-amplification]"), "{}", quiet.stdout);
    assert!(!quiet.stdout.contains("not resolved") && !quiet.stdout.contains("not read"), "{}", quiet.stdout);
    assert_eq!(folder.retrylint(&["check", "-q", "-v"]).code(), 2);
}

#[test]
fn verbose_accounts_for_each_file() {
    let folder = Folder::with("deploy/kong.yaml", KONG);
    folder
        .write("retrylint.toml", "exclude = [\"third_party\"]\n")
        .write("third_party/kong.yaml", KONG)
        .write("logo.png", "x")
        .write("notes.yaml", "a: 1\n")
        .write("gen.yaml", format!("# @generated\n{KONG}"))
        .write("wide.yaml", b"\xFF\xFEr\0e\0t\0r\0i\0e\0s\0");
    let told = folder.retrylint(&["check", "--verbose", "--format", "json"]);
    assert_eq!(
        told.stderr.lines().collect::<Vec<_>>(),
        [
            "configuration: retrylint.toml",
            "deploy/kong.yaml: read, 1 layer of kong",
            "gen.yaml: skipped: line 1 says that it is generated",
            "logo.png: skipped: nothing is read from files with such a name",
            "notes.yaml: skipped: nothing in it concerns a retry",
            "third_party: skipped: `exclude` in the configuration leaves it out",
            "wide.yaml: skipped: its encoding is UTF-16; only UTF-8 is read",
            "kong: 1 layer in 1 file",
        ]
    );
    told.json();
}

#[test]
fn the_files_that_would_be_read_are_listed() {
    let folder = Folder::with("deploy/kong.yaml", KONG);
    folder.write("logo.png", "x").write("gen.yaml", format!("# @generated\n{KONG}")).write("a.rs", "fn f() {}\n");
    let listed = folder.retrylint(&["check", "--show-files"]);
    assert_eq!((listed.code(), listed.stdout.as_str()), (0, "a.rs\ndeploy/kong.yaml\n"));
    let all = folder.retrylint(&["check", "--show-files", "--include-generated"]);
    assert_eq!(all.stdout, "a.rs\ndeploy/kong.yaml\ngen.yaml\n");
    assert_eq!(Folder::new().retrylint(&["check", "--show-files"]).code(), 3);
}

#[test]
fn the_time_of_each_stage_goes_to_standard_error() {
    let folder = Folder::with("kong.yaml", KONG);
    for command in ["check", "report", "graph", "inventory"] {
        let timed = folder.retrylint(&[command, "--timings"]);
        let stages: Vec<&str> = timed.stderr.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(
            stages,
            ["discover", "read", "select", "extract", "evaluate", "link", "check", "report"],
            "{command}"
        );
        assert_eq!(timed.stdout, folder.retrylint(&[command]).stdout);
    }
}

#[test]
fn lists_and_pages_end_in_silence_when_their_reader_goes_away() {
    let folder = Folder::with("kong.yaml", KONG);
    let commands: [&[&str]; 6] = [
        &["rules"],
        &["systems"],
        &["explain", "missing-jitter"],
        &["completions", "bash"],
        &["--help"],
        &["check", "--show-files"],
    ];
    for args in commands {
        let mut child = command(&folder.root, args)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn the_version_is_short_and_long() {
    let folder = Folder::new();
    assert_eq!(folder.retrylint(&["-V"]).stdout, concat!("retrylint ", env!("CARGO_PKG_VERSION"), "\n"));
    let long = folder.retrylint(&["--version"]).stdout;
    assert!(long.starts_with(concat!("retrylint ", env!("CARGO_PKG_VERSION"))), "{long}");
}

/// Windows' line ends change no finding: neither its line nor its column.
#[test]
fn line_ends_of_windows_change_nothing() {
    for fixture in ["shop", "nginx", "haproxy", "helm", "kong", "sql", "caddy", "spring-cloud-gateway"] {
        let from = support::repository().join("fixtures").join(fixture);
        let (unix, windows) = (Folder::new(), Folder::new());
        for entry in walkdir::WalkDir::new(&from).into_iter().filter_map(Result::ok).filter(|e| e.file_type().is_file())
        {
            let path = entry.path().strip_prefix(&from).unwrap().to_string_lossy().into_owned();
            let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
            let text = text.replace("\r\n", "\n");
            windows.write(&path, text.replace('\n', "\r\n"));
            unix.write(&path, text);
        }
        let lines = |folder: &Folder| folder.retrylint(&["check", "--notes", "--format", "line"]).stdout;
        assert!(!lines(&unix).is_empty(), "{fixture} is silent");
        assert_eq!(lines(&windows), lines(&unix), "{fixture}");
    }
}
