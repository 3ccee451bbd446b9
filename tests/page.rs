//! The report page in a real browser. What it needs (see CONTRIBUTING.md) may be missing: then these tests say so and
//! pass, but with `CI_REQUIRES_ALL=1` they fail.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use retrylint::run::Run;
use serde_json::{Value, json};
use support::system::{Key, Numbers, System};
use support::{Folder, command, finish};

/// A browser, and the modules that steer it.
struct Browser {
    program: PathBuf,
}

impl Browser {
    /// `None` where something is missing, which is then said.
    fn find() -> Option<Self> {
        let found = Self::look();
        if let Err(missing) = &found {
            assert!(std::env::var_os("CI_REQUIRES_ALL").is_none(), "the page is not tested: {missing}");
            eprintln!("SKIPPED: the page is not tested in a browser: {missing}");
        }
        found.ok()
    }

    fn look() -> Result<Self, String> {
        let on_path = |name: &&str| {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file())
        };
        let modules = support::repository().join("tests/page/node_modules/playwright-core");
        if !modules.is_dir() {
            return Err("`npm ci --prefix tests/page` has not been run".to_owned());
        }
        on_path(&"node").ok_or("there is no node")?;
        let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
        let program = names.iter().find_map(on_path).ok_or("there is no chromium")?;
        Ok(Self { program })
    }

    /// Runs one of the scripts in `tests/page`.
    fn run(&self, script: &str, given: &Value, folder: &Folder) {
        folder.write("given.json", given.to_string());
        let mut command = Command::new("node");
        command
            .current_dir(support::repository().join("tests/page"))
            .arg(script)
            .arg(folder.root.join("given.json"))
            .env("BROWSER_PROGRAM", &self.program);
        let output = finish(&mut command);
        assert!(output.status.success(), "{script}:\n{}\n{}", output.stdout, output.stderr);
    }
}

/// `retrylint report` on a folder: the page lies beside it.
fn page_of(folder: &Path, page: &Path) -> String {
    let file = page.to_string_lossy();
    let output = finish(&mut command(folder, &["report", "-o", &file, "."]));
    assert_eq!((output.code(), output.stdout.as_str()), (0, ""), "{}", output.stderr);
    file.into_owned()
}

/// The page of a made-up system, with its size in bytes.
fn generated(services: usize, folder: &Folder) -> String {
    let system = Folder::new();
    System::new(services, 7).write(&system);
    page_of(&system.root, &folder.root.join(format!("{services}.html")))
}

#[test]
fn the_vendored_charts_are_those_that_were_published() {
    let Some(_) = Browser::find() else { return };
    let root = support::repository();
    let (vendored, published) = (root.join("src/report/html/vendor/uplot"), root.join("tests/page/node_modules/uplot"));
    for (ours, theirs) in [
        ("uPlot.iife.min.js", "dist/uPlot.iife.min.js"),
        ("uPlot.min.css", "dist/uPlot.min.css"),
        ("LICENSE", "LICENSE"),
    ] {
        let read = |file: PathBuf| std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(read(vendored.join(ours)) == read(published.join(theirs)), "{ours} is not the published {theirs}");
    }
}

#[test]
fn the_modules_compute_what_they_should() {
    let Some(browser) = Browser::find() else { return };
    browser.run("modules.mjs", &Value::Null, &Folder::new());
}

#[test]
fn pages_of_all_sizes_work() {
    let Some(browser) = Browser::find() else { return };
    let folder = Folder::new();
    let shop = page_of(&support::repository().join("fixtures/shop"), &folder.root.join("shop.html"));
    let empty = Folder::with("readme.yaml", "colour: blue\n");
    let empty = page_of(&empty.root, &folder.root.join("empty.html"));
    let sizes: Vec<String> = [5, 50, 500].into_iter().map(|services| generated(services, &folder)).collect();
    let largest = std::fs::metadata(&sizes[2]).unwrap().len();
    assert!(largest < 1_000_000, "the page of 500 services takes {largest} bytes");
    browser.run("pages.mjs", &json!({ "shop": shop, "empty": empty, "sizes": sizes }), &folder);
}

/// Names that would be markup, scripts or addresses where somebody forgot to escape them.
const HOSTILE: [&str; 5] = [
    "<img src=x onerror=pwned=1>",
    "</script><script>pwned=1</script>",
    "<!--<script>",
    "\" onmouseover=\"pwned=1",
    "${pwned=1}{{data}}&lt;b&gt;",
];

#[test]
fn hostile_names_stay_text() {
    let system = Folder::new();
    let mut routes = String::new();
    for (i, name) in HOSTILE.iter().enumerate() {
        let name = Value::from(*name);
        routes.push_str(&format!("- {{ name: {name}, host: host-{i}.example, retries: 9, url: \"http://a/{i}\" }}\n"));
        routes.push_str(&format!("- {{ name: second {i}, host: {name}, retries: 12 }}\n"));
    }
    let file = "javascript:pwned=1;<b>.yaml";
    system.write(file, format!("_format_version: \"3.0\"\nservices:\n{routes}"));
    system.write("broken<script>.yaml", "_format_version: \"3.0\"\nservices: [\n");
    let page = system.root.join("report.html");
    let title = "</title><script>pwned=1</script>";
    let args = ["report", "-o", "report.html", "--title", title, "."];
    assert_eq!(finish(&mut command(&system.root, &args)).code(), 0);
    let text = std::fs::read_to_string(&page).unwrap();
    for name in HOSTILE.iter().take(3).chain([&title]) {
        assert!(!text.contains(name), "{name} stands in the page as it is");
    }
    let Some(browser) = Browser::find() else { return };
    let folder = Folder::new();
    browser.run("hostile.mjs", &json!({ "page": page, "names": HOSTILE, "title": title, "file": file }), &folder);
}

/// The id of a layer of a made-up system.
fn id_of(run: &Run, key: &Key) -> Option<String> {
    let is = |name: &str| match key {
        Key::Mesh(to) => name == format!("Istio VirtualService {to}"),
        Key::Client(_, to) => name == format!("Resilience4j retry {to}"),
    };
    let owns = |path: &str| match key {
        Key::Mesh(to) => path == format!("mesh/{to}.yaml"),
        Key::Client(from, _) => path.starts_with(&format!("services/{from}/")),
    };
    let of_key = run
        .model
        .layers
        .iter()
        .find(|layer| is(&layer.name) && run.sources.get(layer.place.file).is_some_and(|file| owns(&file.path)));
    of_key.map(|layer| layer.id.to_string())
}

fn run_of(folder: &Folder) -> Run {
    let file = folder.root.join("retrylint.toml");
    let config = retrylint::config::load(&file, &folder.root, &retrylint::config::Names::all()).unwrap();
    let inputs =
        retrylint::Inputs { cwd: folder.root.clone(), paths: vec![".".into()], ..retrylint::Inputs::default() };
    retrylint::run(&inputs, &config).unwrap()
}

/// The paths that the tool lists.
fn expected(run: &Run) -> Vec<Value> {
    let path = |path: &retrylint::model::Path| {
        let layers: Vec<&str> = path.layers.iter().map(|ix| &*run.model.layer(*ix).id).collect();
        json!({ "product": path.product, "leaf": &*path.leaf, "layers": layers })
    };
    assert!(!run.model.paths_truncated);
    run.model.paths.iter().map(path).collect()
}

#[test]
fn two_hundred_what_ifs_multiply_to_what_the_tool_says_of_the_changed_input() {
    let Some(browser) = Browser::find() else { return };
    let folder = Folder::new();
    let mut given = Vec::new();
    for seed in 1..=4 {
        let mut system = System::new(14, seed);
        let base = Folder::new();
        system.write(&base);
        let run = run_of(&base);
        let ids: BTreeMap<Key, String> =
            system.attempts.keys().filter_map(|key| Some((key.clone(), id_of(&run, key)?))).collect();
        assert_eq!(ids.len(), system.attempts.len(), "every layer that was written is found: {ids:?}");
        let page = page_of(&base.root, &folder.root.join(format!("what-if-{seed}.html")));
        let (before, keys) = (system.attempts.clone(), system.attempts.keys().cloned().collect::<Vec<_>>());
        let numbers = &mut Numbers::new(seed * 31);
        let mut cases = vec![json!({ "changes": {}, "paths": expected(&run) })];
        for _ in 0..50 {
            system.attempts.clone_from(&before);
            let mut changes = BTreeMap::new();
            for _ in 0..=numbers.below(4) {
                let key = &keys[numbers.below(keys.len() as u64) as usize];
                let attempts = if numbers.below(2) == 0 { 1 } else { 1 + numbers.below(9) };
                system.attempts.insert(key.clone(), attempts);
                changes.insert(ids[key].clone(), attempts);
            }
            let changed = Folder::new();
            system.write(&changed);
            cases.push(json!({ "changes": changes, "paths": expected(&run_of(&changed)) }));
        }
        given.push(json!({ "page": page, "cases": cases }));
    }
    browser.run("what-if.mjs", &json!(given), &folder);
}
