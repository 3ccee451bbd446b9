//! Rust sources: from text to a small form of our own ([`ir`]), and from that form to layers and calls.

pub mod cargo;
pub mod crates;
pub mod depth;
pub mod eval;
pub mod index;
pub mod ir;
pub mod lex;
pub mod lower;
pub mod reading;
pub mod stack;
pub mod stores;
pub mod walk;

use crate::systems::SystemMeta;

/// What is read without any crate's help.
static BY_HAND: SystemMeta = SystemMeta {
    id: "rust",
    name: "Rust by hand",
    reads: "sources and Cargo.toml: loops, recursion and second tries around requests, through functions and files",
    marks: &["fn "],
    defaults: &[],
};

/// Types and functions by which clients that repeat their own calls are made.
pub fn client_makers() -> impl Iterator<Item = &'static str> {
    crates::client_makers()
}

/// What is read in Rust sources, for the list of systems.
pub fn metas() -> impl Iterator<Item = &'static SystemMeta> {
    crates::metas().chain(stores::jobs::metas()).chain(std::iter::once(&BY_HAND))
}
