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
pub mod walk;
