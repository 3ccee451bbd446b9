//! Which files are found and read, over folders made for each test.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retrylint::config::{Bases, Globs};
use retrylint::source::discover::{Discovered, Missing, Paths, discover};

struct Tree {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let tree = Self { _folder: folder, root };
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[cfg(unix)]
    fn link(&self, target: &str, link: &str) {
        std::os::unix::fs::symlink(target, self.root.join(link)).unwrap();
    }

    fn discover_in(&self, cwd: &str, given: &[&str], exclude: &[&str]) -> Result<Discovered, Missing> {
        let cwd = self.root.join(cwd);
        let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
        let bases = Bases { config: self.root.clone(), cwd: cwd.clone() };
        let exclude = Globs::new(&exclude.iter().map(|&g| g.to_owned()).collect::<Vec<_>>(), &bases);
        discover(&Paths { cwd: &cwd, given: &given, stdin: None, exclude: &exclude, threads: 2 })
    }

    fn found(&self, given: &[&str]) -> Vec<String> {
        shown(&self.discover_in("", given, &[]).unwrap())
    }
}

fn shown(discovered: &Discovered) -> Vec<String> {
    discovered.files.iter().map(|f| f.path.to_string()).collect()
}

fn unread(discovered: &Discovered) -> Vec<(String, String)> {
    discovered.unread.iter().map(|u| (u.path.to_string(), u.reason.clone())).collect()
}

#[test]
fn gitignore_holds_without_a_repository_and_hidden_files_are_read() {
    let tree = Tree::new(&[
        (".gitignore", "target/\n*.bak.yaml\n!keep.bak.yaml\n"),
        (".env", ""),
        (".cargo/config.toml", ""),
        (".github/workflows/ci.yml", ""),
        ("kong.yaml", ""),
        ("old.bak.yaml", ""),
        ("keep.bak.yaml", ""),
        ("target/debug/x.yaml", ""),
        ("deploy/.gitignore", "secret.yaml\n"),
        ("deploy/secret.yaml", ""),
        ("deploy/envoy.yaml", ""),
    ]);
    let expected = [
        ".cargo/config.toml",
        ".env",
        ".github/workflows/ci.yml",
        ".gitignore",
        "deploy/.gitignore",
        "deploy/envoy.yaml",
        "keep.bak.yaml",
        "kong.yaml",
    ];
    assert_eq!(tree.found(&["."]), expected);
}

#[test]
fn the_folders_of_version_control_are_never_read() {
    let tree =
        Tree::new(&[(".git/x.yaml", ""), ("sub/.git", "gitdir: elsewhere"), (".svn/y.yaml", ""), ("a.yaml", "")]);
    assert_eq!(tree.found(&["."]), ["a.yaml"]);
}

#[test]
fn gitignore_of_a_parent_folder_holds_too() {
    let tree = Tree::new(&[(".gitignore", "gen.yaml\n"), ("deploy/gen.yaml", ""), ("deploy/a.yaml", "")]);
    assert_eq!(tree.found(&["deploy"]), ["deploy/a.yaml"]);
}

#[test]
fn what_only_this_machine_ignores_is_read() {
    let tree = Tree::new(&[
        (".git/info/exclude", "a.yaml\n"),
        (".git/HEAD", ""),
        (".ignore", "b.yaml\n"),
        ("a.yaml", ""),
        ("b.yaml", ""),
    ]);
    assert_eq!(tree.found(&["."]), [".ignore", "a.yaml", "b.yaml"]);
}

#[test]
fn a_file_or_folder_given_by_name_is_read_even_if_ignored() {
    let tree = Tree::new(&[(".gitignore", "gen/\nx.yaml\n"), ("x.yaml", ""), ("gen/y.yaml", ""), ("z.yaml", "")]);
    assert_eq!(tree.found(&["x.yaml"]), ["x.yaml"]);
    assert_eq!(tree.found(&["gen"]), ["gen/y.yaml"]);
    let excluded = tree.discover_in("", &["z.yaml"], &["z.yaml"]).unwrap();
    assert_eq!(shown(&excluded), ["z.yaml"]);
}

#[test]
fn a_file_given_by_name_that_nothing_reads_is_told() {
    let tree = Tree::new(&[("logo.png", ""), ("sub/logo.png", "")]);
    let named = tree.discover_in("", &["logo.png", "sub"], &[]).unwrap();
    assert_eq!(unread(&named), [("logo.png".to_owned(), "nothing is read from files with such a name".to_owned())]);
}

#[test]
fn overlapping_paths_are_read_once() {
    let tree = Tree::new(&[("deploy/a.yaml", ""), ("b.yaml", "")]);
    let absolute = tree.root.join("deploy/a.yaml");
    let given = [".", "deploy", "./deploy/../deploy/a.yaml", absolute.to_str().unwrap(), "b.yaml"];
    assert_eq!(tree.found(&given), ["b.yaml", "deploy/a.yaml"]);
}

#[test]
fn excludes_start_at_the_configuration_and_count_below_it() {
    let tree =
        Tree::new(&[("legacy/a.yaml", ""), ("src/legacy/b.yaml", ""), ("src/c.yaml", ""), ("src/d.gen.yaml", "")]);
    let found = |cwd, exclude: &[&str]| shown(&tree.discover_in(cwd, &["."], exclude).unwrap());
    assert_eq!(found("", &["/legacy", "*.gen.yaml"]), ["src/c.yaml", "src/legacy/b.yaml"]);
    assert_eq!(found("src", &["legacy", "/src/c.yaml"]), ["d.gen.yaml"]);
}

#[test]
fn paths_outside_of_the_working_directory_are_shown_from_it() {
    let tree = Tree::new(&[("a/x.yaml", ""), ("b/y.yaml", "")]);
    let found = tree.discover_in("a", &["../b", "."], &[]).unwrap();
    assert_eq!(shown(&found), ["../b/y.yaml", "x.yaml"]);
    let absolute = tree.root.join("b");
    let found = tree.discover_in("a", &[absolute.to_str().unwrap()], &[]).unwrap();
    assert_eq!(shown(&found), [format!("{}/y.yaml", absolute.display())]);
}

#[test]
fn the_configuration_file_itself_is_no_source() {
    assert!(Tree::new(&[("retrylint.toml", "")]).found(&["."]).is_empty());
}

#[test]
fn every_path_that_does_not_exist_is_named() {
    let tree = Tree::new(&[("a.yaml", "")]);
    let missing = tree.discover_in("", &["a.yaml", "nope", "a.yaml/b"], &[]).unwrap_err();
    assert_eq!(missing.to_string(), "no such file or folder: nope, a.yaml/b");
}

#[test]
fn standard_input_stands_for_the_file_that_it_names() {
    let tree = Tree::new(&[("a.yaml", "on the disk"), ("b.yaml", "")]);
    let given = [PathBuf::from(".")];
    let bytes: Arc<[u8]> = Arc::from(&b"typed"[..]);
    let paths =
        Paths { cwd: &tree.root, given: &given, stdin: Some(("a.yaml", bytes)), exclude: &Globs::none(), threads: 1 };
    let found = discover(&paths).unwrap();
    assert_eq!(shown(&found), ["a.yaml", "b.yaml"]);
    let texts = retrylint::source::read::read(&found.files, &|_| true);
    assert_eq!(&*texts.files[0].text, "typed");
}

#[cfg(unix)]
mod links {
    use super::*;

    #[test]
    fn loops_end_and_lose_nothing() {
        let tree = Tree::new(&[("deploy/a.yaml", "")]);
        tree.link(".", "deploy/self");
        tree.link("..", "deploy/up");
        tree.link("two.yaml", "one.yaml");
        tree.link("one.yaml", "two.yaml");
        let found = tree.discover_in("", &["."], &[]).unwrap();
        assert_eq!(shown(&found), ["deploy/a.yaml"]);
        let told: Vec<_> = unread(&found).into_iter().map(|(path, _)| path).collect();
        assert_eq!(told, ["one.yaml", "two.yaml"]);
    }

    #[test]
    fn a_linked_file_is_read_once_under_its_own_name() {
        let tree = Tree::new(&[("shared/z.yaml", ""), ("outside/values.yaml", "")]);
        tree.link("shared/z.yaml", "a.yaml");
        assert_eq!(tree.found(&["."]), ["outside/values.yaml", "shared/z.yaml"]);
        fs::create_dir(tree.root.join("chart")).unwrap();
        tree.link("../outside/values.yaml", "chart/values.yaml");
        assert_eq!(tree.found(&["chart"]), ["chart/values.yaml"]);
    }

    #[test]
    fn a_linked_name_with_a_syntax_wins_over_an_own_one_without() {
        let tree = Tree::new(&[("data/application", "")]);
        tree.link("data/application", "application.yaml");
        assert_eq!(tree.found(&["."]), ["application.yaml"]);
    }

    #[test]
    fn a_link_to_a_folder_outside_is_told_and_not_followed() {
        let tree = Tree::new(&[("here/a.yaml", ""), ("there/b.yaml", "")]);
        tree.link("../there", "here/there");
        let found = tree.discover_in("", &["here"], &[]).unwrap();
        assert_eq!(shown(&found), ["here/a.yaml"]);
        assert_eq!(found.unread.len(), 1);
        assert_eq!(&*found.unread[0].path, "here/there");
        let both = tree.discover_in("", &["here", "there"], &[]).unwrap();
        assert_eq!((shown(&both), both.unread.len()), (vec!["here/a.yaml".to_owned(), "there/b.yaml".to_owned()], 0));
    }

    #[test]
    fn a_pipe_is_no_file_and_one_given_by_name_does_not_block() {
        let tree = Tree::new(&[("a.yaml", "")]);
        let pipe = tree.root.join("pipe.yaml");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(tree.found(&["."]), ["a.yaml"]);
        let named = tree.discover_in("", &["pipe.yaml"], &[]).unwrap();
        let texts = retrylint::source::read::read(&named.files, &|_| true);
        assert_eq!(texts.unread[0].reason, "not a regular file");
    }
}

#[test]
fn the_order_is_that_of_the_paths_whatever_the_threads() {
    let names: Vec<String> = (0..200).map(|n| format!("d{}/f{n}.yaml", n % 17)).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "")).collect();
    let tree = Tree::new(&files);
    let mut sorted = names.clone();
    sorted.sort();
    for threads in [1, 16] {
        let given = [PathBuf::from(".")];
        let paths = Paths { cwd: &tree.root, given: &given, stdin: None, exclude: &Globs::none(), threads };
        assert_eq!(shown(&discover(&paths).unwrap()), sorted);
    }
}

#[test]
fn shown_paths_use_slashes_only() {
    let tree = Tree::new(&[("a/b/c.yaml", "")]);
    assert!(tree.found(&["."]).iter().all(|path| Path::new(path).is_relative() && !path.contains('\\')));
}
