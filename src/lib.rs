//! retrylint: finds retries that multiply.
//!
//! One way, no way back: discover → read → select → extract → link → check → report.
//! Each stage is a folder; its types are in one place:
//! [`source`] (files, spans), [`syntax`] (trees), [`facts`] (what one unit says), [`model`] (what is true of all
//! of them together), [`rules`] (findings), [`report`] (text, JSON).

pub mod config;
pub mod facts;
pub mod model;
pub mod report;
pub mod rules;
pub mod run;
pub mod rust;
pub mod source;
pub mod suggest;
pub mod syntax;
pub mod systems;

#[cfg(test)]
mod testing;
