//! Parses every Rust file under the given folders with syn, on all cores: what a linter costs that does not choose.
//! `benches/speed.sh` sets the time of retrylint against it.

#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use std::path::PathBuf;

use rayon::prelude::*;
use retrylint::rust::stack;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `cargo bench` hands on an argument of its own.
    let folders: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let files: Vec<PathBuf> = folders.iter().flat_map(rust_files).collect();
    let parsed: Vec<usize> = stack::pool(0)?.install(|| files.par_iter().filter_map(parse).collect());
    println!("{} files, {} bytes", parsed.len(), parsed.iter().sum::<usize>());
    Ok(())
}

fn rust_files(folder: &String) -> impl Iterator<Item = PathBuf> {
    let entries = ignore::WalkBuilder::new(folder).build().flatten().map(ignore::DirEntry::into_path);
    entries.filter(|path| path.extension().is_some_and(|e| e == "rs") && path.is_file())
}

fn parse(path: &PathBuf) -> Option<usize> {
    let text = std::fs::read_to_string(path).ok()?;
    let tree = syn::parse_file(&text);
    drop(tree);
    proc_macro2::extra::invalidate_current_thread_spans();
    Some(text.len())
}
