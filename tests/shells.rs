//! Completions in the shells that they are for, and manual pages through the programs that show them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use support::{Folder, finish, tool};

/// A file with the completions for a shell.
fn completions(shell: &str) -> (Folder, PathBuf) {
    let folder = Folder::new();
    let output = folder.retrylint(&["completions", shell]);
    assert_eq!((output.code(), output.stderr.as_str()), (0, ""));
    let file = folder.root.join("_retrylint");
    fs::write(&file, output.stdout).unwrap();
    (folder, file)
}

/// What a shell says to a script, in which `FILE` stands for the completions.
fn told(shell: &str, args: &[&str], script: &str) -> Option<String> {
    let program = tool(shell)?;
    let (folder, file) = completions(shell);
    let script = script.replace("FILE", &file.to_string_lossy());
    let output =
        finish(Command::new(program).args(args).arg(&script).current_dir(&folder.root).env("HOME", &folder.root));
    assert_eq!((output.code(), output.stderr.as_str()), (0, ""), "{shell}: {}", output.stdout);
    Some(output.stdout)
}

#[test]
fn bash_completes() {
    let script = "source FILE
        ask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _retrylint retrylint \"${COMP_WORDS[-1]}\" \"${COMP_WORDS[-2]}\"; echo \"${COMPREPLY[@]}\"; }
        complete -p retrylint >/dev/null
        ask retrylint inv
        ask retrylint check --format che";
    let Some(told) = told("bash", &["--norc", "--noprofile", "-c"], script) else { return };
    assert_eq!(told, "inventory\ncheckstyle\n");
}

#[test]
fn fish_completes() {
    let script = "source FILE; complete -C 'retrylint inv'; complete -C 'retrylint check --format che'";
    let Some(told) = told("fish", &["--no-config", "-c"], script) else { return };
    let words: Vec<&str> = told.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(words, ["inventory", "checkstyle"]);
}

#[test]
fn zsh_completes() {
    // The line is typed into a shell of its own, with tabs, once that shell waits for it; what it runs prints its arguments.
    let script = r#"
        zmodload zsh/zpty
        zpty -b shell 'TERM=dumb zsh -f -i'
        said=
        wait_for() {
            for _ in {1..1500}; do
                while zpty -r -t shell line 2>/dev/null; do said+=$line; done
                [[ $said == *${~1}* ]] && return
                sleep 0.02
            done
        }
        zpty -w shell 'PROMPT="RE""ADY "; autoload -U compinit; compinit -D -u; source FILE; retrylint() { print "GOT" "$@" "END" }'
        wait_for READY
        zpty -w -n shell $'retrylint inv\t--for\tjs\t\n'
        wait_for 'GOT inv*END'
        print -r -- "$said"
        zpty -d shell"#;
    let Some(told) = told("zsh", &["-f", "-c"], script) else { return };
    assert!(told.contains("GOT inventory --format=json END"), "{told}");
}

#[test]
fn powershell_and_elvish_get_theirs() {
    for (shell, word) in [("powershell", "Register-ArgumentCompleter"), ("elvish", "edit:completion")] {
        let (_folder, file) = completions(shell);
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(word) && text.contains("inventory"), "{text}");
    }
}

#[test]
fn manual_pages_are_clean() {
    let folder = Folder::new();
    let output = folder.retrylint(&["man", "--out", "pages"]);
    assert_eq!((output.code(), output.stdout.as_str(), output.stderr.as_str()), (0, "", ""));
    let mut pages: Vec<PathBuf> =
        fs::read_dir(folder.root.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let names: Vec<_> = pages.iter().map(|page| page.file_name().unwrap().to_str().unwrap()).collect();
    for name in ["retrylint.1", "retrylint-check.1", "retrylint-explain.1", "retrylint-completions.1"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.contains(&"retrylint-man.1"), "it is hidden");
    for page in &pages {
        if let Some(groff) = tool("groff") {
            let output = finish(Command::new(groff).args(["-man", "-Tutf8", "-ww", "-z"]).arg(page));
            assert_eq!((output.code(), output.stderr.as_str()), (0, ""), "{}", page.display());
        }
    }
}
